// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/dynamic/meeting.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "base/lock.hpp"
#include "base/message.hpp"
#include "base/process.hpp"
#include "base/ticker.hpp"
#include "boot/connect/address_exchange.hpp"
#include "boot/connect/service.hpp"
#include "boot/job/segment.hpp"
#include "boot/job/status.hpp"
#include "core/dynamic/context.hpp"
#include "core/lane/lane.hpp"
#include "core/message/send_queue.hpp"
#include "core/object/failure.hpp"
#include "core/object/identity.hpp"
#include "core/object/other_jobs.hpp"
#include "core/object/settings.hpp"
#include "core/peer/peer.hpp"
#include "core/progress/progress.hpp"
#include "core/progress/waiting.hpp"
#include "core/thread/thread.hpp"
#include "transport/select/hosts.hpp"

namespace weft::core {
namespace {

// A way to a far rank that was lost, and in how many looks the rank was there nevertheless.
struct LostWay {
  std::string cause;
  std::string remedy;
  int looks = 0;
};

// A process that we share communicators with.
struct SharedPeer {
  int32_t communicators = 0;
  uint32_t generation = 0;
  bool suspected = false;  // it was lost at the last look
};

constinit std::mutex meeting;  // one thread at a time adds and forgets jobs; taken before lanes and `mutex`
constinit std::mutex mutex;    // of what changes; jobs are read without it
constinit std::map<int32_t, SharedPeer>* shared = nullptr;
constinit base::Ticker* ticker = nullptr;
constinit base::Lock lost_lock;  // the last one taken
constinit std::map<int32_t, LostWay>* lost_ways = nullptr;

bool has_ended(const OtherJob& job) {
  if (job.far && boot::status_of(job.header, job.places).gone.load(std::memory_order_acquire) != 0) return true;
  pollfd p{job.launcher.number(), POLLIN, 0};
  return poll(&p, 1, 0) > 0;
}

boot::RankStatus& line_in(const OtherJob& job, int32_t rank) {
  return boot::status_of(job.header, place_in(rank));
}

// In MPI_Finalize a process may leave before us, once it sees that we are on our way.
bool is_leaving() {
  const auto phase = identity->line_at(identity->place_here()).phase.load(std::memory_order_relaxed);
  return phase == static_cast<uint32_t>(boot::Phase::leaving);
}

enum class Being { there, left, lost };

Being being_of(const OtherJob& job, int32_t rank, uint32_t generation) {
  const bool ended = has_ended(job);  // before its last word is read
  const boot::RankStatus& line = line_in(job, rank);
  if (line.generation.load(std::memory_order_acquire) != generation) return is_leaving() ? Being::left : Being::lost;
  switch (static_cast<boot::Phase>(line.phase.load(std::memory_order_acquire))) {
    case boot::Phase::finalized:
    case boot::Phase::left:
      return Being::left;
    case boot::Phase::lost:
    case boot::Phase::aborted:
      return Being::lost;
    case boot::Phase::leaving:
      return ended ? Being::lost : Being::left;
    default:
      return ended ? Being::lost : Being::there;
  }
}

// A way that is lost matters where the process at its end lives on: otherwise we hear more of it.
bool way_stays_lost(int32_t rank, LostWay& lost) {
  constexpr int patience = 20;  // looks
  const std::lock_guard guard(lost_lock);
  if (lost_ways == nullptr) return false;
  const auto found = lost_ways->find(rank);
  if (found == lost_ways->end() || ++found->second.looks < patience) return false;
  lost = found->second;
  return true;
}

// Returns whether another look is needed. A process that has left the last communicator that it shared with ours may
// end in any way, and we may be on our way out of it: so one that is lost is looked at twice.
bool tick() {
  const std::lock_guard guard(mutex);
  if (shared == nullptr) return false;
  for (auto& [rank, with] : *shared) {
    const OtherJob* const job = job_of(rank);
    if (job == nullptr) continue;
    const Being being = being_of(*job, rank, with.generation);
    if (LostWay way; being == Being::there && job->far && way_stays_lost(rank, way))
      failed(FailureCause::peer, rank, {.cause = way.cause, .remedy = way.remedy});
    if (being != Being::lost) continue;
    if (!std::exchange(with.suspected, true)) continue;
    const uint32_t pid = line_in(*job, rank).pid.load(std::memory_order_relaxed);
    const bool unreached = job->far && has_ended(*job);
    failed(FailureCause::peer, rank,
           {.cause = "a process of job " + job->id + " (pid " + std::to_string(pid) +
                     "), which this process is connected with, has ended without MPI_Finalize" +
                     (unreached ? ", or its host cannot be reached any more" : ""),
            .remedy = "see the messages of that job; MPI_Comm_disconnect makes two jobs independent"});
  }
  return !shared->empty();
}

void forget_far_job(const OtherJob& job) {
  {
    const AllLanesGuard guard;  // nobody polls
    peers->transports.drop_far_job(job.first);
  }
  boot::forget_addresses(job.first, job.first + job.places);
  forget_far_contexts(job.slot);
  const std::lock_guard guard(lost_lock);
  if (lost_ways != nullptr)
    lost_ways->erase(lost_ways->lower_bound(job.first), lost_ways->lower_bound(job.first + job.places));
}

// The lock is held.
bool is_shared_with(const OtherJob& job) {
  if (shared == nullptr) return false;
  const auto at = shared->lower_bound(job.first);
  return at != shared->end() && at->first < job.first + job.places;
}

// None of its ranks is used any more; false: some are.
bool forget(OtherJob* job) {
  {
    const std::lock_guard guard(mutex);
    if (is_shared_with(*job)) return false;
    set_job(job->first, nullptr);
  }
  for (int32_t place = 0; place < job->places; ++place) forget_peer(job->first + place);
  if (job->far) {
    forget_far_job(*job);
  } else {
    peers->transports.drop_job(job->first);
  }
  munmap(job->header, job->header_bytes);
  job->launcher.close();
  delete job;
  return true;
}

// Forgets those that have ended and that nothing connects us with.
void forget_ended() {
  for (OtherJob* const job : known_jobs()) {
    if (has_ended(*job)) (void)forget(job);
  }
}

// "cause (errno). Remedy: ..."
std::string why_not(const std::string& id, int error, const char* what, const char* remedy) {
  return base::describe({.cause = "the job " + (id.empty() ? std::string("of the other process") : id) + " " + what,
                         .error = error,
                         .remedy = remedy});
}

constexpr const char* same_host =
    "see whether that job still runs, as the same user; on another host it is reached by a port with an address in its "
    "name, and not by MPI_Comm_join";

// Maps the lines of a job at this address. -1: `why` not.
int map_lines(OtherJob& made, const std::string& address, int32_t lines, std::string& why) {
  const int segment = boot::open_segment(address);
  made.launcher = {base::open_process(boot::process_in(address)), "the launcher of another job"};
  made.header_bytes = boot::job_header_bytes(lines);
  if (segment >= 0 && made.launcher.is_open())
    made.header = mmap(nullptr, made.header_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, segment, 0);
  if (made.header != nullptr && made.header != MAP_FAILED) return segment;
  why = why_not(made.id, errno, "cannot be reached through /proc and pidfd_open",
                "it takes Linux 5.3, and both jobs in one namespace of processes");
  made.header = nullptr;
  if (segment >= 0) close(segment);
  return -1;
}

constexpr const char* other_settings = "runs with other settings, or is much larger than this one";
constexpr const char* same_settings =
    "give both jobs the same WEFT_ settings of memory, messages and collective operations";

// Asks its mpiexec, and maps the head of its memory. `made` is filled in; the descriptor of its segment is the result,
// -1: why not.
int visit(int number, OtherJob& made, std::string& why) {
  constexpr int patience_s = 10;
  boot::Packet answer;
  if (!boot::ask_launcher(
          boot::socket_of_job(number), boot::Packet().put(boot::request::visit), answer, [] { (void)progress(); },
          patience_s)) {
    why = why_not(made.id, errno, "is not on this host, or has ended", same_host);
    return -1;
  }
  const bool refused = answer.take_number(0, 1) != 0;
  why = answer.take_text();
  const std::string id = answer.take_text();
  made.places = static_cast<int32_t>(answer.take_number(1, boot::most_places_of_a_job));
  const int64_t started = answer.take_number(1, made.places);
  const std::string address = answer.take_text();
  if (refused) return -1;
  if (answer.is_bad() || (!made.id.empty() && made.id != id)) {
    why = why_not(made.id, 0, answer.is_bad() ? "answers in another way than this version of Weft" : "has ended",
                  answer.is_bad() ? "give both jobs the same Weft" : "start it again, and give its new port");
    return -1;
  }
  made.id = id;
  const int segment = map_lines(made, address, made.places, why);
  if (segment < 0) return -1;
  const uint64_t alike = boot::status_of(made.header, 0).alike.load(std::memory_order_relaxed);
  if (alike == identity->line_at(0).alike.load(std::memory_order_relaxed) &&
      mailbox_bytes(started) == static_cast<int64_t>(peers->mailbox_limit) &&
      peers->transports.add_job(made.first, made.places, segment))
    return segment;
  why = why_not(made.id, 0, other_settings, same_settings);
  close(segment);
  return -1;
}

// Asks our mpiexec about a job of another host.
bool visit_far(int number, OtherJob& made, std::string& why) {
  constexpr int patience_s = 10;
  boot::Packet answer;
  const auto question = boot::Packet()
                            .put(boot::request::facts)
                            .put(identity->place_here())
                            .put(identity->job.generation)
                            .put(number - boot::job_numbers);
  if (!boot::ask_launcher(
          identity->job.service, question, answer, [] { (void)progress(); }, patience_s)) {
    why = why_not(made.id, errno, "is on another host, and mpiexec cannot be asked about it", "see whether it runs");
    return false;
  }
  const bool refused = answer.take_number(0, 1) != 0;
  why = answer.take_text();
  if (refused) return false;
  const std::string id = answer.take_text();
  made.places = static_cast<int32_t>(answer.take_number(1, boot::most_places_of_a_job));
  const int64_t started = answer.take_number(1, made.places);
  const auto alike = static_cast<uint64_t>(answer.take_number(INT64_MIN, INT64_MAX));
  made.theirs = static_cast<int32_t>(answer.take_number(boot::job_numbers, boot::all_job_numbers - 1))
                << boot::job_shift;
  made.slot = static_cast<uint32_t>(answer.take_number(0, ContextNumbers::far_slots - 1));
  made.senior = answer.take_number(0, 1) != 0;
  const std::string secret = answer.take_text();
  const std::string address = answer.take_text();
  made.far = true;
  if (answer.is_bad() || secret.size() != 32 || (!made.id.empty() && made.id != id)) {
    why = why_not(made.id, 0,
                  answer.is_bad() ? "is described in another way than this version of Weft does" : "has ended",
                  "give both jobs the same Weft, and connect again");
    return false;
  }
  made.id = id;
  if (alike != identity->line_at(0).alike.load(std::memory_order_relaxed) ||
      mailbox_bytes(started) != static_cast<int64_t>(peers->mailbox_limit)) {
    why = why_not(made.id, 0, other_settings, same_settings);
    return false;
  }
  const int segment = map_lines(made, address, made.places + 1, why);
  if (segment < 0) return false;
  close(segment);
  made.addresses = peers->transports.add_far_job({.first = made.first,
                                                  .place = identity->rank,
                                                  .senior = made.senior,
                                                  .secret = secret,
                                                  .sleeps = !Backoff::spins(),
                                                  .threads = threads->concurrent});
  return true;
}

}  // namespace

std::string meet_job(int number, const std::string& id, int32_t place) {
  const int ours = identity->job.number;
  if (ours == 0 || !peers->transports.takes_jobs())
    return "this job cannot be connected with others: it has no number, as more than " +
           std::to_string(boot::job_numbers - 1) +
           " jobs of this user run on this host, or no numbers are left for other ranks (mpiexec --universe)";
  if (number < 1 || number >= boot::all_job_numbers || place < 0 || place >= boot::most_places_of_a_job)
    return "that names no job";
  const int32_t first = rank_in_job(number, 0);
  if (first == 0 && !id.empty() && id != identity->job.id)
    return why_not(id, 0, "is not on this host, or has ended", same_host);
  if (first == 0) return place < identity->places ? "" : "that names no process";
  const std::lock_guard guard(meeting);
  if (OtherJob* const known = job_of(first); known != nullptr) {
    if (!has_ended(*known) && (id.empty() || known->id == id))
      return place < known->places ? "" : "that names no process";
    if (!forget(known)) return why_not(known->id, 0, "has ended", "free what is shared with it first");
  }
  forget_ended();
  auto made = std::make_unique<OtherJob>();
  made->id = id;
  made->first = first;
  std::string why;
  if (number < boot::job_numbers ? visit(number, *made, why) < 0 : !visit_far(number, *made, why)) {
    if (made->header != nullptr) munmap(made->header, made->header_bytes);
    made->launcher.close();
    return why;
  }
  if (place >= made->places) why = "that names no process";
  set_job(first, made.release());
  return why;
}

std::string meet_jobs_of(const std::vector<int32_t>& ranks) {
  for (const int32_t rank : ranks) {
    if (rank >= 0 && rank < identity->places) continue;
    const int block = rank >> boot::job_shift;
    const int number = is_far(rank) ? block : block ^ identity->job.number;
    if (std::string why = meet_job(number, "", place_in(rank)); !why.empty()) return why;
  }
  return {};
}

bool suits(const std::string& addresses, const std::string& other) {
  return transport::net::protocol_in(addresses) == transport::net::protocol_in(other);
}

void far_way_lost(int32_t far_rank, const base::Problem& problem) {
  const std::lock_guard guard(lost_lock);
  if (lost_ways == nullptr) lost_ways = new std::map<int32_t, LostWay>;
  lost_ways->try_emplace(far_rank, LostWay{problem.cause, problem.remedy, 0});
}

bool share_with_other(int32_t rank, int32_t by) {
  const std::lock_guard guard(mutex);
  if (shared == nullptr) shared = new std::map<int32_t, SharedPeer>;
  SharedPeer& with = (*shared)[rank];
  const bool before = with.communicators != 0;
  with.communicators += by;
  const bool after = with.communicators != 0;
  if (!after) shared->erase(rank);
  if (!after || before) return before != after;
  const boot::RankStatus* const line = line_of_other(rank);
  with.generation = line != nullptr ? line->generation.load(std::memory_order_acquire) : 0;
  if (ticker == nullptr) ticker = new base::Ticker(std::chrono::milliseconds(100), 1, tick);
  if (!ticker->start()) {
    failed(FailureCause::memory,
           {.cause = "no thread to look after the processes of another job", .remedy = "raise ulimit -u"});
  }
  ticker->need();
  return true;
}

bool others_leave() {
  const std::lock_guard guard(mutex);
  if (shared == nullptr) return true;
  return std::all_of(shared->begin(), shared->end(), [](const auto& each) {
    const OtherJob* const job = job_of(each.first);
    return job == nullptr || being_of(*job, each.first, each.second.generation) == Being::left;
  });
}

void leave_other_jobs() {
  base::Ticker* gone = nullptr;
  {
    const std::lock_guard guard(mutex);
    std::swap(gone, ticker);
  }
  delete gone;
  const std::lock_guard guard(meeting);
  {
    const std::lock_guard data_guard(mutex);
    delete std::exchange(shared, nullptr);
  }
  {
    const std::lock_guard lost_guard(lost_lock);
    delete std::exchange(lost_ways, nullptr);
  }
  for (OtherJob* const job : known_jobs()) (void)forget(job);
}

}  // namespace weft::core
