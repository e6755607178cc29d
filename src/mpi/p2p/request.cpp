// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Freeing and cancelling requests (MPI-5.0, 3.7.3 and 3.8.4).
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"
#include "mpi/p2p/p2p.hpp"

namespace weft::mpi {

namespace {

// Why the handle of a request under way must not be freed, nor the operation cancelled; nullptr: it may be.
const char* tied(const Request& r) {
  if (is_collective(r)) return "a collective operation (MPI-5.0, 6.12)";
  if (is_partitioned(r)) return "a partitioned operation (MPI-5.0, 4.2.2)";
  return is_one_sided(r) ? "a one-sided operation (MPI-5.0, 12.3.5)" : nullptr;
}

// The end of a request whose handle was freed before: nobody is left to do it.
bool end_orphan(Request& r) {
  release(r);
  return false;
}

}  // namespace

int request_free(MPI_Request* request) {
  if (no_address(request)) return null_argument(nullptr, "MPI_Request_free", "request");
  Request* r = request_of(*request);
  if (r == nullptr) return bad_handle(nullptr, "MPI_Request_free", MPI_ERR_REQUEST, "request", *request);
  if (const char* what = tied(*r); what != nullptr && r->flags.active && !core::is_done(*r)) {
    return fail(static_cast<Comm*>(r->comm), "MPI_Request_free", MPI_ERR_REQUEST,
                "the request is under way: %s must be completed", what);
  }
  *request = MPI_REQUEST_NULL;
  if (r->flags.shared) return MPI_SUCCESS;
  if (r->flags.generalized) return free_generalized(*r);
  // Its parts need us to look at them, or another thread is at it.
  if (r->flags.active && (r->on_poll != nullptr || is_file_access(*r))) wait_for(*r, "MPI_Request_free");
  if (!r->flags.active || !core::follow_up(*r, end_orphan)) release(*r);
  return MPI_SUCCESS;
}

int cancel(MPI_Request* request) {
  if (no_address(request)) return null_argument(nullptr, "MPI_Cancel", "request");
  Request* r = request_of(*request);
  if (r == nullptr) return bad_handle(nullptr, "MPI_Cancel", MPI_ERR_REQUEST, "request", *request);
  if (r->flags.generalized) return cancel_generalized(*r);
  if (!r->flags.active) {
    return fail(static_cast<Comm*>(r->comm), "MPI_Cancel", MPI_ERR_REQUEST, "the persistent request is not started");
  }
  if (const char* what = tied(*r)) {
    return fail(static_cast<Comm*>(r->comm), "MPI_Cancel", MPI_ERR_REQUEST, "%s cannot be cancelled", what);
  }
  if (is_file_access(*r)) return MPI_SUCCESS;  // it ends by itself, and tells that it was not cancelled
  (void)core::progress();                      // a message that is here already is received, not cancelled
  core::cancel(*r);
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
