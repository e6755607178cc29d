// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Communicators: questions, and the end of them (MPI-5.0, 7.4). create.cpp makes them.
#include "mpi/comm/comm.hpp"

#include <cstring>
#include <mutex>
#include <vector>

#include "coll/offload/offload.hpp"
#include "coll/shm/shared_region.hpp"
#include "core/dynamic/processes.hpp"
#include "core/protocol/p2p.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/attribute.hpp"
#include "mpi/object/errhandler.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"
#include "mpi/p2p/bsend.hpp"

namespace weft::mpi {
namespace {

// Freed by the program while operations were under way; made on first need, kept until the process ends.
constinit base::Lock freed_lock;
constinit std::vector<Comm*>* freed_in_use = nullptr;

bool in_use(const Comm& comm) {
  return core::in_use(comm) || (comm.local != nullptr && core::in_use(*comm.local));
}

bool has_pending(const Comm& comm) {
  return core::has_pending(comm) || (comm.local != nullptr && core::has_pending(*comm.local));
}

// What Comm_free and Comm_disconnect share: checks, and the attributes' callbacks.
int prepare_free(const char* function, MPI_Comm* handle, Comm*& comm) {
  if (no_address(handle)) return null_argument(nullptr, function, "comm");
  comm = comm_of(*handle);
  if (comm == nullptr) return bad_comm(function, *handle);
  if (comm->predefined) {
    return fail(comm, function, MPI_ERR_COMM, "%s is predefined and cannot be freed", comm_text(*comm).c_str());
  }
  int error = delete_attributes(*comm);
  if (error != MPI_SUCCESS) return fail(comm, function, error, "a delete callback of an attribute returned an error");
  if (comm == parent_comm) parent_comm = nullptr;
  return MPI_SUCCESS;
}

// Compares two different communicators (MPI-5.0, 7.4.1 and 7.6.1).
int compare_comms(const Comm& a, const Comm& b) {
  if (a.is_inter() != b.is_inter()) return MPI_UNEQUAL;
  const int ours = compare_groups(*a.group, *b.group);
  const int theirs = a.is_inter() ? compare_groups(*a.remote, *b.remote) : MPI_IDENT;
  if (ours == MPI_UNEQUAL || theirs == MPI_UNEQUAL) return MPI_UNEQUAL;
  return ours == MPI_IDENT && theirs == MPI_IDENT ? MPI_CONGRUENT : MPI_SIMILAR;
}

int no_intercomm(const char* function, const Comm& comm) {
  return fail(&comm, function, MPI_ERR_COMM, "%s is not an inter-communicator", comm_text(comm).c_str());
}

}  // namespace

constinit Comm* parent_comm = nullptr;

void release_comm_parts(Comm& comm) {
  coll::SharedRegion::leave(comm);
  coll::Offload::leave(comm);
  drop_topology(comm);
  drop_stream(comm);
  drop(comm.group);
  drop(comm.remote);
  drop(comm.errhandler);
  comm.group = comm.remote = nullptr;
  comm.errhandler = nullptr;
  if (comm.local == nullptr) return;
  auto* local = static_cast<Comm*>(comm.local);
  comm.local = nullptr;
  release_comm_parts(*local);
  base::destroy_object(local);
}

// Other processes may end once we are not connected with them any more: that comes last.
void destroy_comm(Comm* comm) {
  const uint32_t context = comm->context;
  const bool left_by_all = comm->left_by_all;
  core::Group* const group = comm->tied ? hold(comm->group) : nullptr;
  core::Group* const remote = comm->tied_remote ? hold(comm->remote) : nullptr;
  release_comm_parts(*comm);
  base::destroy_object(comm);
  left_by_all ? core::release_context_by_all(context) : release_context(context);
  for (core::Group* tied : {group, remote}) {
    if (tied == nullptr) continue;
    core::untie(*tied);
    drop(tied);
  }
}

void destroy_when_unused(Comm* comm) {
  if (!in_use(*comm)) return destroy_comm(comm);
  std::lock_guard lock(freed_lock);
  if (freed_in_use == nullptr) freed_in_use = new std::vector<Comm*>;
  freed_in_use->push_back(comm);
}

void free_unused_comms() {
  std::vector<Comm*> freed;  // ours alone while we look
  {
    std::lock_guard lock(freed_lock);
    if (freed_in_use != nullptr) freed.swap(*freed_in_use);
  }
  for (Comm* comm : freed) destroy_when_unused(comm);
}

int comm_size(MPI_Comm comm, int* size) {
  const Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm("MPI_Comm_size", comm);
  if (no_address(size)) return null_argument(c, "MPI_Comm_size", "size");
  *size = c->local_size();
  return MPI_SUCCESS;
}

int comm_rank(MPI_Comm comm, int* rank) {
  const Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm("MPI_Comm_rank", comm);
  if (no_address(rank)) return null_argument(c, "MPI_Comm_rank", "rank");
  *rank = c->rank;
  return MPI_SUCCESS;
}

int comm_group(MPI_Comm comm, MPI_Group* group) {
  const Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm("MPI_Comm_group", comm);
  if (no_address(group)) return null_argument(c, "MPI_Comm_group", "group");
  *group = group_handle(hold(c->group));
  return MPI_SUCCESS;
}

int comm_compare(MPI_Comm comm1, MPI_Comm comm2, int* result) {
  const Comm* a = comm_of(comm1);
  if (a == nullptr) return bad_comm("MPI_Comm_compare", comm1);
  const Comm* b = comm_of(comm2);
  if (b == nullptr) return bad_comm("MPI_Comm_compare", comm2);
  if (no_address(result)) return null_argument(a, "MPI_Comm_compare", "result");
  *result = a == b ? MPI_IDENT : compare_comms(*a, *b);
  return MPI_SUCCESS;
}

int comm_test_inter(MPI_Comm comm, int* flag) {
  const Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm("MPI_Comm_test_inter", comm);
  if (no_address(flag)) return null_argument(c, "MPI_Comm_test_inter", "flag");
  *flag = c->is_inter();
  return MPI_SUCCESS;
}

int comm_remote_size(MPI_Comm comm, int* size) {
  const Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm("MPI_Comm_remote_size", comm);
  if (no_address(size)) return null_argument(c, "MPI_Comm_remote_size", "size");
  if (!c->is_inter()) return no_intercomm("MPI_Comm_remote_size", *c);
  *size = c->size;
  return MPI_SUCCESS;
}

int comm_remote_group(MPI_Comm comm, MPI_Group* group) {
  const Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm("MPI_Comm_remote_group", comm);
  if (no_address(group)) return null_argument(c, "MPI_Comm_remote_group", "group");
  if (!c->is_inter()) return no_intercomm("MPI_Comm_remote_group", *c);
  *group = group_handle(hold(c->remote));
  return MPI_SUCCESS;
}

int comm_get_parent(MPI_Comm* parent) {
  static const char* function = "MPI_Comm_get_parent";
  if (!is_running()) return not_running(function);
  if (no_address(parent)) return null_argument(nullptr, function, "parent");
  *parent = parent_comm != nullptr ? handle_of<MPI_Comm>(parent_comm) : MPI_COMM_NULL;
  return MPI_SUCCESS;
}

int comm_set_name(MPI_Comm comm, const char* comm_name) {
  Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm("MPI_Comm_set_name", comm);
  if (no_address(comm_name)) return null_argument(c, "MPI_Comm_set_name", "comm_name");
  std::lock_guard lock(details);
  c->name.assign(comm_name, strnlen(comm_name, MPI_MAX_OBJECT_NAME - 1));
  return MPI_SUCCESS;
}

// MPI_COMM_NULL has a name too (MPI-5.0, 7.8).
int comm_get_name(MPI_Comm comm, char* comm_name, int* resultlen) {
  static const char* function = "MPI_Comm_get_name";
  const Comm* c = comm_of(comm);
  if (c == nullptr && (comm != MPI_COMM_NULL || !is_running())) return bad_comm(function, comm);
  if (no_address(comm_name)) return null_argument(c, function, "comm_name");
  if (no_address(resultlen)) return null_argument(c, function, "resultlen");
  std::lock_guard lock(details);
  const char* name = c != nullptr ? c->name.c_str() : "MPI_COMM_NULL";
  strcpy(comm_name, name);
  *resultlen = static_cast<int>(strlen(name));
  return MPI_SUCCESS;
}

int comm_free(MPI_Comm* comm) {
  Comm* c = nullptr;
  if (int error = prepare_free("MPI_Comm_free", comm, c); error != MPI_SUCCESS || c == nullptr) return error;
  wait_for_stream(*c);
  end_buffer(c->bsend);
  free_unused_comms();
  c->kind = base::Kind::free;  // the handle is dead at once, even with operations in flight
  destroy_when_unused(c);
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

int comm_disconnect(MPI_Comm* comm) {
  Comm* c = nullptr;
  if (int error = prepare_free("MPI_Comm_disconnect", comm, c); error != MPI_SUCCESS || c == nullptr) return error;
  wait_for_stream(*c);
  end_buffer(c->bsend);
  core::wait_until([&] { return !has_pending(*c); });
  if (c->tied || c->tied_remote) {  // then the processes are independent, and one of them may end
    coll::Vote vote{core::no_offer, 0};
    (void)coll::agree(founders_of(*c), vote);  // a barrier, also of both sides
    c->left_by_all = true;
  }
  c->kind = base::Kind::free;
  destroy_when_unused(c);
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
