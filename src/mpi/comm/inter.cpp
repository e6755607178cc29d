// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Making intercommunicators of two groups, and one communicator of both (MPI-5.0, 7.6.2).

#include <algorithm>
#include <string>
#include <vector>

#include "boot/connect/address_exchange.hpp"
#include "boot/connect/own_launcher.hpp"
#include "core/dynamic/meeting.hpp"
#include "core/dynamic/processes.hpp"
#include "core/object/failure.hpp"
#include "core/object/identity.hpp"
#include "core/object/other_jobs.hpp"
#include "core/object/tree.hpp"
#include "core/protocol/p2p.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/env/info.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/check.hpp"
#include "mpi/object/errhandler.hpp"

namespace weft::mpi {
namespace {

// One side of an intercommunicator to be, as its members know it before they know the other one.
struct Bank {
  const char* function;
  Comm& origin;        // whose error handler and session the new communicator gets
  const Comm* errors;  // whose error handler is asked; nullptr: MPI_COMM_SELF's
  coll::Founders founders;
  core::Group* group;
  int32_t leader;       // its place
  bool common = false;  // the other side may be of another job
};

// Where our leader reaches theirs.
struct OtherLeader {
  core::Comm& comm;
  uint32_t context;
  int32_t rank;
};

// The first words between leaders.
struct LeaderGreeting {
  uint64_t offer;  // the smallest of that side
  int32_t size;
  int32_t error;                     // the leaders could not reach each other
  uint32_t apart;                    // the two sides are of several jobs
  uint32_t grown;                    // a spawned process of a job on several hosts is among them
  int32_t verdict = core::no_error;  // of both leaders
};

// The addresses of a side's members, one text behind the other, and the length of each.
struct Addresses {
  std::vector<int64_t> lengths;
  std::string texts;
};

int32_t exchange(const OtherLeader& other, int32_t tag, const void* out, int64_t out_bytes, void* in,
                 int64_t in_bytes) {
  return core::send_receive(other.comm, other.context, out, out_bytes, byte_type, other.rank, in, in_bytes, byte_type,
                            other.rank, tag);
}

bool has_spawned(const core::Group& group) {
  const boot::Job& job = core::identity->job;
  if (job.one_host() || !job.can_grow()) return false;
  for (int32_t r = 0; r < group.size; ++r) {
    if (group.job_rank(r) >= job.started) return true;
  }
  return false;
}

// Both leaders: greetings, then who is there. They spread the result.
void meet(const Bank& bank, const OtherLeader& other, int32_t tag, uint64_t offer, LeaderGreeting& theirs,
          std::vector<int32_t>& their_ranks) {
  const int32_t their_leader = other.comm.job_rank(other.rank);
  const bool apart = core::renumbered(0, their_leader) != 0 || core::spans_jobs(*bank.group);
  const LeaderGreeting ours{offer, bank.group->size, core::no_error, apart ? 1U : 0U,
                            has_spawned(*bank.group) ? 1U : 0U};
  theirs.error = exchange(other, tag, &ours, sizeof ours, &theirs, sizeof theirs);
  if (theirs.error == core::no_error && (theirs.size < 1 || theirs.size > core::ranks_of_all_jobs()))
    theirs.error = core::internal_error;
  if (theirs.error != core::no_error) return;
  their_ranks.resize(static_cast<size_t>(theirs.size));
  const std::vector<int32_t> our_ranks = job_ranks_of(*bank.group);
  constexpr int64_t width = sizeof(int32_t);
  theirs.error = exchange(other, tag, our_ranks.data(), width * ours.size, their_ranks.data(), width * theirs.size);
  for (int32_t& rank : their_ranks) rank = core::renumbered(rank, their_leader);
  theirs.apart |= ours.apart;
  theirs.grown |= ours.grown;
  if (theirs.error != core::no_error || theirs.apart == 0) return;
  // Each side may find members that it cannot know: processes of a third job, where one of the three jobs is of another
  // host.
  const bool known = std::find(their_ranks.begin(), their_ranks.end(), core::unknown_process) == their_ranks.end();
  const int32_t verdict = known ? core::no_error : core::other_error;
  theirs.error = exchange(other, tag, &verdict, sizeof verdict, &theirs.verdict, sizeof theirs.verdict);
  theirs.verdict = std::max(theirs.verdict, verdict);
}

// Each member tells the others of its side its addresses. Members that know each other learn nothing new, but the
// leader can pass the addresses on. `far` is a rank of the other job, if that is on another host.
int32_t gather_addresses(const Bank& bank, int32_t far, Addresses& all) {
  const std::string own = far == core::no_far_rank ? boot::own_addresses() : core::addresses_for(far);
  for (int32_t place = 0; place < bank.group->size; ++place) {
    std::string text = place == bank.group->rank ? own : std::string();
    auto length = static_cast<int64_t>(text.size());
    if (const int32_t error = coll::spread(bank.founders, place, &length, sizeof length)) return error;
    if (length < 0 || length > boot::longest_introduction) return core::internal_error;
    text.resize(static_cast<size_t>(length));
    if (const int32_t error = coll::spread(bank.founders, place, text.data(), length)) return error;
    all.lengths.push_back(length);
    all.texts += text;
  }
  return core::no_error;
}

// The two sides of a job on several hosts, or of two jobs of two hosts, learn how they reach each other.
int32_t exchange_addresses(const Bank& bank, const OtherLeader* other, int32_t tag, int32_t far,
                           const std::vector<int32_t>& their_ranks) {
  Addresses ours;
  Addresses theirs;
  int32_t error = gather_addresses(bank, far, ours);
  if (error != core::no_error) return error;
  constexpr int64_t width = sizeof(int64_t);
  const auto count = static_cast<int64_t>(their_ranks.size());
  theirs.lengths.resize(their_ranks.size());
  if (other != nullptr) {
    error = exchange(*other, tag, ours.lengths.data(), width * bank.group->size, theirs.lengths.data(), width * count);
  }
  if (error == core::no_error) error = coll::spread(bank.founders, bank.leader, theirs.lengths.data(), width * count);
  if (error != core::no_error) return error;
  int64_t bytes = 0;
  for (const int64_t length : theirs.lengths) {
    if (length < 0 || length > boot::longest_introduction) return core::internal_error;
    bytes += length;
  }
  theirs.texts.resize(static_cast<size_t>(bytes));
  if (other != nullptr) {
    error =
        exchange(*other, tag, ours.texts.data(), static_cast<int64_t>(ours.texts.size()), theirs.texts.data(), bytes);
  }
  if (error == core::no_error) error = coll::spread(bank.founders, bank.leader, theirs.texts.data(), bytes);
  size_t at = 0;
  for (size_t i = 0; i < their_ranks.size() && error == core::no_error; ++i) {
    const auto length = static_cast<size_t>(theirs.lengths[i]);
    if (their_ranks[i] >= 0 && (their_ranks[i] < core::identity->places || core::is_far(their_ranks[i])))
      boot::set_addresses(their_ranks[i], theirs.texts.substr(at, length));
    at += length;
  }
  return error;
}

// Waits until all members of both sides are here, since a rank takes messages only from jobs that it knows. `vote` is
// the vote of this rank and then that of our side, `their_offer` the offer of the other side.
int32_t wait_for_all(const Bank& bank, const OtherLeader* other, int32_t tag, coll::Vote& vote, uint64_t& their_offer) {
  int32_t error = coll::agree(bank.founders, vote);
  their_offer = core::no_offer;
  if (other != nullptr && error == core::no_error)
    error = exchange(*other, tag, &vote.offer, sizeof vote.offer, &their_offer, sizeof their_offer);
  const int32_t spread = coll::spread(bank.founders, bank.leader, &their_offer, sizeof their_offer);
  return error != core::no_error ? error : spread;
}

int32_t wait_for_all(const Bank& bank, const OtherLeader* other, int32_t tag) {
  coll::Vote none{core::no_offer, 0};
  uint64_t theirs = core::no_offer;
  return wait_for_all(bank, other, tag, none, theirs);
}

// Offers a context again, for two jobs of two hosts: the number that a side offered before is valid in its own job
// alone.
int32_t offer_again(const Bank& bank, const OtherLeader* other, int32_t tag, int32_t far, uint64_t& offer,
                    coll::Vote& vote, uint64_t& their_offer) {
  (void)core::settle_offer(offer, core::no_offer);
  offer = core::offer_far_context(far, bank.founders.place);
  vote = {offer, 0};
  return wait_for_all(bank, other, tag, vote, their_offer);
}

// A rank of a job of another host on either side.
int32_t far_rank_of(const Bank& bank, const std::vector<int32_t>& their_ranks) {
  const auto found =
      std::find_if(their_ranks.begin(), their_ranks.end(), [](int32_t rank) { return core::is_far(rank); });
  return found != their_ranks.end() ? *found : core::far_rank_of(*bank.group);
}

// The other side, as our leader learns it from theirs, at `other` (at the leader alone). `offer` is ours.
int32_t learn(const Bank& bank, const OtherLeader* other, int32_t tag, uint64_t& offer, coll::Vote& vote,
              LeaderGreeting& theirs, std::vector<int32_t>& their_ranks) {
  int32_t error = coll::agree(bank.founders, vote);
  if (error != core::no_error) return error;
  if (other != nullptr) meet(bank, *other, tag, vote.offer, theirs, their_ranks);
  error = coll::spread(bank.founders, bank.leader, &theirs, sizeof theirs);
  if (error != core::no_error || theirs.error != core::no_error) return error != core::no_error ? error : theirs.error;
  if (theirs.verdict != core::no_error) return theirs.verdict;
  their_ranks.resize(static_cast<size_t>(theirs.size));
  constexpr int64_t width = sizeof(int32_t);
  error = coll::spread(bank.founders, bank.leader, their_ranks.data(), width * theirs.size);
  const int32_t leader = bank.founders.job_rank(bank.leader);
  for (int32_t& rank : their_ranks) rank = core::renumbered(rank, leader);
  if (error == core::no_error && theirs.grown != 0) {
    error = exchange_addresses(bank, other, tag, core::no_far_rank, their_ranks);
    return error == core::no_error ? wait_for_all(bank, other, tag) : error;
  }
  if (error != core::no_error || theirs.apart == 0) return error;
  // From here on the other side counts on us.
  if (const std::string why = core::meet_jobs_of(their_ranks); !why.empty()) {
    core::failed(core::FailureCause::peer, {.cause = "a process of another job cannot be connected with: " + why});
  }
  const int32_t far = far_rank_of(bank, their_ranks);
  if (far == core::no_far_rank) return wait_for_all(bank, other, tag);
  error = exchange_addresses(bank, other, tag, far, their_ranks);
  return error == core::no_error ? offer_again(bank, other, tag, far, offer, vote, theirs.offer) : error;
}

bool overlap(const core::Group& group, const std::vector<int32_t>& others) {
  const RankFinder finder(group, static_cast<int64_t>(others.size()));
  return std::any_of(others.begin(), others.end(), [&](int32_t r) { return finder.rank_of(r) >= 0; });
}

// The vote of a side whose ranks begin at `first` in the team of both.
uint64_t shifted(uint64_t vote, int32_t first) {
  return vote + static_cast<uint32_t>(first);
}

int build(const Bank& bank, const OtherLeader* other, int32_t tag, Comm*& made) {
  constexpr int32_t several = 2;  // at least: how many is not known yet
  const bool common = bank.common || bank.founders.parent.several_jobs;
  uint64_t offer = core::offer_context(several, bank.founders.place, common);
  coll::Vote vote{offer, 0};
  LeaderGreeting theirs{};
  std::vector<int32_t> their_ranks;
  const int32_t failed = learn(bank, other, tag, offer, vote, theirs, their_ranks);
  if (theirs.verdict != core::no_error)
    return fail(bank.errors, bank.function, MPI_ERR_UNSUPPORTED_OPERATION,
                "the two groups have processes of three jobs, of which two are on different hosts: connect two at a "
                "time");
  if (failed != core::no_error)
    return fail(bank.errors, bank.function, failed, "the two groups could not tell each other who they are");
  if (overlap(*bank.group, their_ranks)) {
    (void)core::settle_offer(offer, core::no_offer);
    return fail(bank.errors, bank.function, MPI_ERR_COMM,
                "the two groups have members in common: an inter-communicator needs two without any");
  }
  const bool we_lead = core::comes_before(bank.group->job_rank(0), their_ranks[0]);
  const int32_t our_first = we_lead ? 0 : theirs.size;  // in the team of both
  const int32_t their_first = we_lead ? bank.group->size : 0;
  const uint64_t agreed = std::min(shifted(vote.offer, our_first), shifted(theirs.offer, their_first));
  if (theirs.apart != 0 && !core::is_common_offer(agreed)) {
    (void)core::settle_offer(offer, core::no_offer);
    return agreement_failed(bank.function, bank.errors, core::other_error);
  }
  if (!core::settle_offer(offer, agreed)) return agreement_failed(bank.function, bank.errors, core::other_error);
  const core::TreePlace place =
      core::tree_place(our_first + bank.group->rank, bank.group->size + theirs.size, core::owner_in(agreed));
  int32_t above = core::ContextNumbers::nobody;
  if (place.above >= 0) {
    const int32_t here = place.above - our_first;
    above = here >= 0 && here < bank.group->size ? bank.group->job_rank(here)
                                                 : their_ranks[static_cast<size_t>(place.above - their_first)];
  }
  const uint32_t context = core::hold_context(agreed, above, place.below);
  core::Group* remote = make_group(std::move(their_ranks));
  if (remote != nullptr) remote->session = bank.group->session;
  made = new_intercomm(bank.origin, context, {hold(bank.group), remote, we_lead});
  return made != nullptr ? MPI_SUCCESS : no_memory(bank.errors, bank.function, "an inter-communicator");
}

// Whether our process, the leader, names a good one to talk to.
int check_peer(const char* function, const Comm& local, MPI_Comm peer_comm, int remote_leader, const Comm*& peer) {
  peer = comm_of(peer_comm);
  if (peer == nullptr) return bad_handle(&local, function, MPI_ERR_COMM, "peer communicator", peer_comm);
  if (remote_leader < 0 || remote_leader >= peer->size) {
    return no_rank(&local, function, MPI_ERR_RANK, "remote_leader", remote_leader, comm_text(*peer).c_str(),
                   peer->size);
  }
  if (!peer->is_inter() && remote_leader == peer->rank) {
    return fail(&local, function, MPI_ERR_RANK, "remote_leader %d is this process, the leader of the local group",
                remote_leader);
  }
  return MPI_SUCCESS;
}

int check_leader(const char* function, const Comm* errors, int leader, int32_t size) {
  if (leader >= 0 && leader < size) return MPI_SUCCESS;
  return no_rank(errors, function, MPI_ERR_RANK, "local_leader", leader, "the local group", size);
}

}  // namespace

int intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
                     MPI_Comm* newintercomm) {
  static const char* function = "MPI_Intercomm_create";
  Comm* local = comm_of(local_comm);
  if (local == nullptr) return bad_comm(function, local_comm);
  if (local->is_inter()) {
    return fail(local, function, MPI_ERR_COMM, "%s has two groups: the local one must be an intra-communicator",
                comm_text(*local).c_str());
  }
  if (int error = check_leader(function, local, local_leader, local->size)) return error;
  if (tag < 0) return negative(local, function, MPI_ERR_TAG, "tag", tag);
  if (no_address(newintercomm)) return null_argument(local, function, "newintercomm");
  // The leader alone knows of which job the others are.
  boot::learn_own_launcher(core::identity->job);
  const bool may_be_apart = core::identity->job.number != 0;
  const Bank bank{function, *local, local, founders_of(*local), local->group, local_leader, may_be_apart};
  Comm* made = nullptr;
  int error = MPI_SUCCESS;
  if (local->rank == local_leader) {
    const Comm* peer = nullptr;
    error = check_peer(function, *local, peer_comm, remote_leader, peer);
    if (error != MPI_SUCCESS) return error;
    Comm& way = *comm_of(peer_comm);
    const OtherLeader other{way, way.collective_context() | core::creation_contexts, remote_leader};
    error = build(bank, &other, tag, made);
  } else {
    error = build(bank, nullptr, tag, made);
  }
  *newintercomm = made != nullptr ? handle_of<MPI_Comm>(made) : MPI_COMM_NULL;
  return error;
}

int intercomm_create_from_groups(MPI_Group local_group, int local_leader, MPI_Group remote_group, int remote_leader,
                                 const char* stringtag, MPI_Info info, MPI_Errhandler errhandler,
                                 MPI_Comm* newintercomm) {
  static const char* function = "MPI_Intercomm_create_from_groups";
  core::Group* local = group_of(local_group);
  if (local == nullptr) return bad_group(function, local_group);
  if (int error = check_naming(function, stringtag, errhandler)) return error;
  const Info* given = info_of(info);
  if (given == nullptr && info != MPI_INFO_NULL) return bad_info(nullptr, function, info);
  if (no_address(newintercomm)) return null_argument(nullptr, function, "newintercomm");
  *newintercomm = MPI_COMM_NULL;
  const core::Group* remote = group_of(remote_group);
  if (local->size == 0 || (remote != nullptr && remote->size == 0)) return MPI_SUCCESS;
  if (local->rank < 0) return fail(nullptr, function, MPI_ERR_GROUP, "this process is not in the local group");
  if (int error = check_leader(function, nullptr, local_leader, local->size)) return error;
  if (core::spans_jobs(*local) || (remote != nullptr && core::spans_jobs(*remote))) {
    return fail(nullptr, function, MPI_ERR_UNSUPPORTED_OPERATION,
                "the groups have processes of several jobs: use MPI_Intercomm_create, or MPI_Comm_connect");
  }
  const bool is_leader = local->rank == local_leader;
  int32_t other_leader = 0;  // job rank
  if (is_leader) {
    if (remote == nullptr) return bad_group(function, remote_group);
    if (remote_leader < 0 || remote_leader >= remote->size) {
      return no_rank(nullptr, function, MPI_ERR_RANK, "remote_leader", remote_leader, "the remote group", remote->size);
    }
    other_leader = remote->job_rank(remote_leader);
  }
  Comm& parent = nursery();
  const auto [context, tag] = core::meeting_point(stringtag);
  const Bank bank{function, parent, nullptr, {coll::team_of(*local), parent, context, tag}, local, local_leader};
  const OtherLeader other{parent, context, other_leader};
  Comm* made = nullptr;
  const int error = build(bank, is_leader ? &other : nullptr, tag, made);
  if (made == nullptr) return error;
  replace_handler(made->errhandler, errhandler_of(errhandler));
  made->session = local->session;
  if (int wrong = take_hints(function, *made, *made, given)) {
    destroy_comm(made);
    return wrong;
  }
  *newintercomm = handle_of<MPI_Comm>(made);
  return MPI_SUCCESS;
}

int meet_others(const char* function, Comm& local, int leader, int32_t other_leader, const char* meeting_point,
                Comm*& made) {
  const auto [context, tag] = core::meeting_point(meeting_point);
  const bool apart = other_leader >= core::identity->places;
  const Bank bank{function, local, &local, founders_of(local), local.group, leader, apart};
  if (local.rank != leader) return build(bank, nullptr, tag, made);
  core::meet(other_leader);
  // Until the communicator is there, this connects the two.
  if (apart) (void)core::share_with_other(other_leader, 1);
  const OtherLeader other{nursery_to(other_leader), context, other_leader};
  const int error = build(bank, &other, tag, made);
  if (apart) (void)core::share_with_other(other_leader, -1);
  return error;
}

namespace {

// Bits of a vote of both sides: nobody of the leading one, or of the other one, has said high, or low.
constexpr uint64_t nobody_said(bool leads, bool high) {
  return uint64_t{1} << (2 * (leads ? 0 : 1) + (high ? 0 : 1));
}

// Whether a side stands behind; false when its members do not say the same.
bool read_high(uint64_t bits, bool leads, bool& high) {
  high = (bits & nobody_said(leads, true)) == 0;
  return high != ((bits & nobody_said(leads, false)) == 0);
}

}  // namespace

int intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
  static const char* function = "MPI_Intercomm_merge";
  Comm* c = comm_of(intercomm);
  if (c == nullptr) return bad_comm(function, intercomm);
  if (!c->is_inter()) {
    return fail(c, function, MPI_ERR_COMM, "%s is not an inter-communicator", comm_text(*c).c_str());
  }
  if (no_address(newintracomm)) return null_argument(c, function, "newintracomm");
  *newintracomm = MPI_COMM_NULL;
  uint64_t bits = ~nobody_said(c->leads, high != 0);
  uint32_t context = 0;
  if (int error = agree_on_context(function, founders_of(*c), context, &bits)) return error;
  bool leaders_high = false;
  bool others_high = false;
  if (!read_high(bits, true, leaders_high) || !read_high(bits, false, others_high)) {
    release_context(context);
    return fail(c, function, MPI_ERR_ARG, "high differs among the ranks of one group: all must say the same");
  }
  // When both say the same, the leading side comes first.
  const bool leaders_first = !leaders_high || others_high;
  const bool we_first = leaders_first == c->leads;
  std::vector<int32_t> ranks = job_ranks_of(we_first ? *c->group : *c->remote);
  const std::vector<int32_t> behind = job_ranks_of(we_first ? *c->remote : *c->group);
  ranks.insert(ranks.end(), behind.begin(), behind.end());
  core::Group* group = make_group(std::move(ranks));
  if (group != nullptr) group->session = c->session;
  Comm* made = new_comm(*c, context, group);
  if (made == nullptr) return no_memory(c, function, "a communicator");
  *newintracomm = handle_of<MPI_Comm>(made);
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
