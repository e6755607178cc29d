// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Generalized requests (MPI-5.0, 13.2): operations of the program that are waited for as MPI's own. No thread needs to
// make progress for them; MPI_Grequest_complete wakes a thread that sleeps in a wait.

#include <mutex>
#include <new>

#include "core/message/completion.hpp"
#include "core/protocol/p2p.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/p2p/status.hpp"

namespace weft::mpi {
namespace {

// The arguments of MPI_Grequest_start; Request::owner.
struct Generalized {
  MPI_Grequest_query_function* query;
  MPI_Grequest_free_function* free;
  MPI_Grequest_cancel_function* cancel;
  void* extra_state;
  bool abandoned = false;  // MPI_Request_free came first; under `completing`
};

// Orders MPI_Request_free and MPI_Grequest_complete: the later one frees the request. No function of the program runs
// under this lock.
constinit base::Lock completing;

// Requests have a communicator; these belong to none.
constinit core::Comm nowhere;

Generalized& generalized_of(const Request& request) {
  return *static_cast<Generalized*>(request.owner);
}

// Has the program free its state, and ends the request.
int destroy(Request& request) {
  Generalized* state = &generalized_of(request);
  const int error = state->free(state->extra_state);
  delete state;
  core::free_request(&request);
  return error;
}

// A request that may be asked for its state; nullptr, with the error raised, when it is of another kind.
Request* generalized_of(const char* function, MPI_Request handle, int& error) {
  Request* r = request_of(handle);
  if (r == nullptr) {
    error = bad_handle(nullptr, function, MPI_ERR_REQUEST, "request", handle);
    return nullptr;
  }
  if (r->flags.generalized) return r;
  error = fail(static_cast<Comm*>(r->comm), function, MPI_ERR_REQUEST,
               "the request is not generalized: MPI_Grequest_start makes those");
  return nullptr;
}

int fail_in(const char* function, const char* callback, int error) {
  if (error == MPI_SUCCESS) return MPI_SUCCESS;
  return fail(nullptr, function, error, "the %s function of a generalized request returned an error", callback);
}

}  // namespace

// The error field is not the query function's to set: which calls write it is known here (MPI-5.0, 13.2).
int query_generalized(const Request& request, MPI_Status* status) {
  const Generalized& state = generalized_of(request);
  MPI_Status ignored{};
  MPI_Status* told = status != MPI_STATUS_IGNORE ? status : &ignored;
  const int error_field = told->MPI_ERROR;
  set_empty_status(told);
  const int error = state.query(state.extra_state, told);
  told->MPI_ERROR = error_field;
  return error;
}

// When both functions fail the call returns the error of the last, which is free (MPI-5.0, 13.2).
int retire_generalized(MPI_Request* handle, Request& request, MPI_Status* status) {
  const int of_query = query_generalized(request, status);
  *handle = MPI_REQUEST_NULL;
  const int of_free = destroy(request);
  return of_free != MPI_SUCCESS ? of_free : of_query;
}

int free_generalized(Request& request) {
  {
    std::lock_guard guard(completing);
    if (!core::is_done(request)) {
      generalized_of(request).abandoned = true;
      return MPI_SUCCESS;
    }
  }
  return fail_in("MPI_Request_free", "free", destroy(request));
}

int cancel_generalized(Request& request) {
  const Generalized& state = generalized_of(request);
  const int complete = core::is_done(request) ? 1 : 0;
  return fail_in("MPI_Cancel", "cancel", state.cancel(state.extra_state, complete));
}

int grequest_start(MPI_Grequest_query_function* query_fn, MPI_Grequest_free_function* free_fn,
                   MPI_Grequest_cancel_function* cancel_fn, void* extra_state, MPI_Request* request) {
  static const char* function = "MPI_Grequest_start";
  if (!is_running()) return not_running(function);
  if (query_fn == nullptr) return null_argument(nullptr, function, "query_fn");
  if (free_fn == nullptr) return null_argument(nullptr, function, "free_fn");
  if (cancel_fn == nullptr) return null_argument(nullptr, function, "cancel_fn");
  if (no_address(request)) return null_argument(nullptr, function, "request");
  auto* state = new (std::nothrow) Generalized{query_fn, free_fn, cancel_fn, extra_state};
  Request* r = state == nullptr ? nullptr : core::new_request(nowhere, core::Role::composite);
  if (r == nullptr) {
    delete state;
    return no_memory(nullptr, function, "a request");
  }
  r->comm = nullptr;  // its errors are MPI_COMM_SELF's
  r->flags.persistent = r->flags.generalized = true;
  r->owner = state;
  r->lane = core::any_lane;  // its waiter progresses all lanes
  *request = handle_of<MPI_Request>(r);
  return MPI_SUCCESS;
}

int grequest_complete(MPI_Request request) {
  static const char* function = "MPI_Grequest_complete";
  int error = MPI_SUCCESS;
  Request* r = generalized_of(function, request, error);
  if (r == nullptr) return error;
  bool again = false;
  {
    std::lock_guard guard(completing);
    again = core::is_done(*r);
    if (!again && !generalized_of(*r).abandoned) {
      core::complete(*r);  // from here on it is the waiter's
      return MPI_SUCCESS;
    }
  }
  if (again) return fail(nullptr, function, MPI_ERR_REQUEST, "the generalized request is complete already");
  return fail_in(function, "free", destroy(*r));
}

}  // namespace weft::mpi
