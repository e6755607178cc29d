// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/observe/observed.hpp"

#include <cstdio>
#include <mutex>

#include "core/object/identity.hpp"
#include "core/object/neighbours.hpp"
#include "core/peer/peer.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"
#include "observe/block.hpp"

namespace weft::mpi {

int64_t Observed::ranks(MPI_Comm handle) {
  const Comm* comm = comm_of(handle);
  return comm == nullptr ? 0 : comm->size;
}

int Observed::own_rank(MPI_Comm handle) {
  const Comm* comm = comm_of(handle);
  return comm == nullptr || comm->is_inter() ? -1 : comm->rank;
}

int64_t Observed::own_ranks(MPI_Comm handle) {
  const Comm* comm = comm_of(handle);
  return comm == nullptr ? 0 : comm->local_size();
}

int64_t Observed::neighbours(MPI_Comm handle) {
  const Comm* comm = comm_of(handle);
  return comm == nullptr || comm->neighbours == nullptr ? 0
                                                        : static_cast<int64_t>(comm->neighbours->destinations.size());
}

bool Observed::enter() {
  enter_call(call_);
  return observe::observation.area != nullptr;
}

bool Observed::leave() {
  leave_call(call_);
  return observe::observation.area != nullptr;
}

void Observed::note(const core::Comm* comm) {
  stats::CommCounts* fresh = comm != nullptr ? count_on(*comm) : nullptr;
  if (fresh == nullptr) return;
  const auto& named = *static_cast<const Comm*>(comm);
  const std::lock_guard guard(details);
  const char* name = named.window != nullptr ? "a window" : named.file != nullptr ? "a file" : "";
  if (!named.name.empty()) name = named.name.c_str();
  snprintf(fresh->name, sizeof fresh->name, "%.60s", name);
}

void Observed::on(MPI_Win handle) {
  const Win* win = detailed_ ? win_of(handle) : nullptr;
  if (win != nullptr) note(win->comm);
}

void Observed::to(MPI_Win handle, int rank) {
  const Win* win = detailed_ ? win_of(handle) : nullptr;
  if (win != nullptr) note_partner(win->comm, rank);
}

// Persistent sends: what MPI_Send_init told.
void Observed::starts(int count, const MPI_Request* requests) {
  if (no_address(requests)) return;
  for (int i = 0; i < count; ++i) {
    const Request* r = request_of(requests[i]);
    if (r == nullptr || !r->flags.persistent || r->role != core::Role::send || r->on_free != nullptr || r->bytes < 0)
      continue;
    bytes_ += static_cast<uint64_t>(r->bytes);
    const int32_t partner = detailed_ ? in_world(static_cast<const Comm*>(r->comm), r->partner) : -1;
    if (partner >= 0) add_message(partner, static_cast<uint64_t>(r->bytes));
  }
}

void Observed::awaits(MPI_Comm handle, int rank) {
  const Comm* comm = detailed_ ? comm_of(handle) : nullptr;
  if (comm != nullptr) awaited_ = in_world(comm, rank);
}

void Observed::awaits(const MPI_Request* request) {
  if (!detailed_ || no_address(request)) return;
  const Request* r = request_of(*request);
  if (r == nullptr || r->comm == nullptr) return;
  if (r->role == core::Role::receive) awaited_ = in_world(r->comm, r->match.source);
  if (r->role != core::Role::send || r->peer == nullptr) return;
  const int32_t place = r->peer->rank - core::identity->first;
  if (place < 0 || place >= core::identity->size) return;
  awaited_ = place;
  of_send_ = true;
}

void Observed::from(MPI_Comm handle, int root) {
  const Comm* comm = comm_of(handle);
  if (comm != nullptr && comm->size > 1) turns(*comm, root);
}

}  // namespace weft::mpi
