// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Making communicators from a parent (MPI-5.0, 7.4.2). A call by all ranks of an intercommunicator makes an
// intercommunicator of both sides' wishes (7.6.2).

#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "core/dynamic/processes.hpp"
#include "core/object/identity.hpp"
#include "core/object/other_jobs.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/env/info.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/attribute.hpp"
#include "mpi/object/check.hpp"
#include "mpi/object/errhandler.hpp"

namespace weft::mpi {
namespace {

// Duplicates a communicator with the hints of `info` (nullptr: none). It does not inherit the hints of `from`
// (MPI-5.0, 7.4.4).
int duplicate(const char* function, Comm& from, const Info* info, MPI_Comm* newcomm) {
  uint8_t asserts = 0;
  const int wrong = read_hints(function, from, info, asserts);  // all take part all the same
  uint64_t bits = wrong == MPI_SUCCESS ? hints_to_agree(asserts) : 0;
  uint32_t context = 0;
  if (int error = agree_on_context(function, founders_of(from), context, &bits)) return error;
  if (wrong != MPI_SUCCESS) {
    release_context(context);
    return wrong;
  }
  Comm* comm = new_twin(from, context);
  if (comm == nullptr) return no_memory(&from, function, "a communicator");
  comm->asserts.store(asserts, std::memory_order_relaxed);
  set_agreed_hints(*comm, bits);
  take_memory_assertion(*comm, info);
  if (int error = copy_attributes(from, *comm)) {
    (void)delete_attributes(*comm);
    destroy_comm(comm);
    *newcomm = MPI_COMM_NULL;
    return fail(&from, function, error, "a copy callback of an attribute returned an error");
  }
  *newcomm = handle_of<MPI_Comm>(comm);
  return MPI_SUCCESS;
}

// The ranks in `comm` of a group's members; fails when a member is not in it.
int ranks_in(const char* function, const Comm& comm, const core::Group& group, std::vector<int32_t>& ranks) {
  const RankFinder finder(*comm.group, group.size);
  ranks.reserve(static_cast<size_t>(group.size));
  for (int32_t r = 0; r < group.size; ++r) {
    int32_t found = finder.rank_of(group.job_rank(r));
    if (found < 0) {
      return fail(&comm, function, MPI_ERR_GROUP, "member %d of the group is not in %s", r, comm_text(comm).c_str());
    }
    ranks.push_back(found);
  }
  return MPI_SUCCESS;
}

int give(const char* function, const Comm& parent, Comm* made, MPI_Comm* newcomm) {
  if (made == nullptr) return no_memory(&parent, function, "a communicator");
  *newcomm = handle_of<MPI_Comm>(made);
  return MPI_SUCCESS;
}

// The properties that a communicator inherits from its parent.
void inherit(Comm& comm, const Comm& parent) {
  comm.errhandler = held_handler(parent.errhandler);
  comm.session = parent.session;
}

// The hidden communicator of our side of an intercommunicator; false when there is no memory.
bool add_local(Comm& comm) {
  Comm* local = base::make_object<Comm>();
  if (local == nullptr) return false;
  inherit(*local, comm);
  describe_comm(*local, comm.context | core::local_contexts, hold(comm.group));
  comm.local = local;
  return true;
}

}  // namespace

int agreement_failed(const char* function, const Comm* errors_on, int32_t error) {
  if (error == core::other_error) {
    return fail(errors_on, function, MPI_ERR_OTHER,
                "there are no numbers left for a communicator of these ranks: free communicators");
  }
  return fail(errors_on, function, error, "the ranks could not agree on a communicator");
}

int agree_on_context(const char* function, const coll::Founders& founders, uint32_t& context, uint64_t* bits) {
  const int32_t error = coll::agree_on_context(founders, context, bits);
  return error == core::no_error ? MPI_SUCCESS
                                 : agreement_failed(function, static_cast<const Comm*>(&founders.parent), error);
}

namespace {

// `our_rank` is the number by which the other side knows us.
Comm* new_nursery(int32_t our_rank) {
  auto* comm = new Comm;  // never a handle, hence not in the arena; kept until the process ends
  comm->context = core::no_context;
  comm->rank = our_rank;
  comm->size = core::ranks_of_all_jobs();
  comm->errhandler = errhandler_of(MPI_ERRORS_ARE_FATAL);
  comm->kind = base::Kind::communicator;
  return comm;
}

}  // namespace

Comm& nursery() {
  static Comm* const made = new_nursery(core::identity->rank);
  return *made;
}

Comm& nursery_to(int32_t other) {
  const int32_t our_rank = core::numbered_by(other, core::identity->rank);
  if (our_rank == core::identity->rank) return nursery();
  static constinit std::mutex mutex;
  static auto& made = *new std::map<int32_t, Comm*>;
  const std::lock_guard guard(mutex);
  Comm*& comm = made[our_rank];
  if (comm == nullptr) comm = new_nursery(our_rank);
  return *comm;
}

int check_naming(const char* function, const char* stringtag, MPI_Errhandler errhandler) {
  if (no_address(stringtag)) return null_argument(nullptr, function, "stringtag");
  if (strnlen(stringtag, MPI_MAX_STRINGTAG_LEN) == MPI_MAX_STRINGTAG_LEN) {
    return fail(nullptr, function, MPI_ERR_ARG, "stringtag is longer than MPI_MAX_STRINGTAG_LEN - 1 (%d)",
                MPI_MAX_STRINGTAG_LEN - 1);
  }
  const Errhandler* handler = errhandler_of(errhandler);
  if (handler == nullptr) return bad_handle(nullptr, function, MPI_ERR_ERRHANDLER, "error handler", errhandler);
  if (handler->scope != Errhandler::Scope::any && handler->scope != Errhandler::Scope::comm) {
    return fail(nullptr, function, MPI_ERR_ERRHANDLER, "the error handler was not made by MPI_Comm_create_errhandler");
  }
  return MPI_SUCCESS;
}

Comm* new_comm(const Comm& parent, uint32_t context, core::Group* group) {
  Comm* comm = group == nullptr ? nullptr : base::make_object<Comm>();
  if (comm == nullptr) {
    drop(group);
    release_context(context);
    return nullptr;
  }
  inherit(*comm, parent);
  describe_comm(*comm, context, group);
  comm->tied = core::tie(*group);
  return comm;
}

Comm* new_intercomm(const Comm& parent, uint32_t context, const Sides& sides) {
  if (sides.ours == nullptr || sides.theirs == nullptr) {
    drop(sides.ours);
    drop(sides.theirs);
    release_context(context);
    return nullptr;
  }
  Comm* comm = new_comm(parent, context, sides.ours);
  if (comm == nullptr) {
    drop(sides.theirs);
    return nullptr;
  }
  comm->remote = sides.theirs;
  comm->leads = sides.we_lead;
  comm->hosts = nullptr;  // its ranks are the other side's
  comm->tied_remote = core::tie(*sides.theirs);
  comm->several_jobs = comm->several_jobs || core::spans_jobs(*sides.theirs);
  address(*comm, *sides.theirs);
  if (add_local(*comm)) return comm;
  destroy_comm(comm);
  return nullptr;
}

Comm* new_twin(const Comm& from, uint32_t context) {
  if (!from.is_inter()) {
    Comm* comm = new_comm(from, context, hold(from.group));
    if (comm != nullptr) share_topology(from, *comm);
    if (comm != nullptr) share_stream(from, *comm);
    return comm;
  }
  return new_intercomm(from, context, {hold(from.group), hold(from.remote), from.leads});
}

int comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  static const char* function = "MPI_Comm_dup";
  Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm(function, comm);
  if (no_address(newcomm)) return null_argument(c, function, "newcomm");
  return duplicate(function, *c, nullptr, newcomm);
}

int comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  static const char* function = "MPI_Comm_dup_with_info";
  Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm(function, comm);
  const Info* given = info_of(info);
  if (given == nullptr && info != MPI_INFO_NULL) return bad_info(c, function, info);
  if (no_address(newcomm)) return null_argument(c, function, "newcomm");
  return duplicate(function, *c, given, newcomm);
}

int comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  static const char* function = "MPI_Comm_create";
  Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm(function, comm);
  core::Group* g = group_of(group);
  if (g == nullptr) return bad_group(function, group);
  if (no_address(newcomm)) return null_argument(c, function, "newcomm");
  std::vector<int32_t> ranks;
  if (int error = ranks_in(function, *c, *g, ranks)) return error;
  // No rank here knows the other side's group: its members tell their places.
  if (c->is_inter()) return split(function, *c, g->rank < 0 ? MPI_UNDEFINED : 0, g->rank, newcomm);
  uint32_t context = 0;
  if (int error = agree_on_context(function, founders_of(*c), context)) return error;
  *newcomm = MPI_COMM_NULL;
  if (g->rank >= 0) return give(function, *c, new_comm(*c, context, hold(g)), newcomm);
  release_context(context);
  return MPI_SUCCESS;
}

int comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
  static const char* function = "MPI_Comm_create_group";
  Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm(function, comm);
  if (c->is_inter()) {
    return fail(c, function, MPI_ERR_COMM, "%s has two groups: the parent must be an intra-communicator",
                comm_text(*c).c_str());
  }
  core::Group* g = group_of(group);
  if (g == nullptr) return bad_group(function, group);
  if (tag < 0) return negative(c, function, MPI_ERR_TAG, "tag", tag);
  if (no_address(newcomm)) return null_argument(c, function, "newcomm");
  *newcomm = MPI_COMM_NULL;
  if (g->rank < 0) return MPI_SUCCESS;
  std::vector<int32_t> ranks;
  if (int error = ranks_in(function, *c, *g, ranks)) return error;
  uint32_t context = 0;
  const coll::Founders founders{{g->size, g->rank, ranks.data()}, *c, c->context | core::creation_contexts, tag};
  if (int error = agree_on_context(function, founders, context)) return error;
  return give(function, *c, new_comm(*c, context, hold(g)), newcomm);
}

}  // namespace weft::mpi
