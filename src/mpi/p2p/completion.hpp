// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Parts that the calls which complete requests (completion.cpp) and those which look at them (request_status.cpp) have
// in common.

#include "core/peer/request_number.hpp"
#include "mpi/object/check.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/p2p/status.hpp"

namespace weft::mpi {

// The state of a request, for the calls that complete it and those that look at it.
enum class RequestState : uint8_t { invalid, idle, pending, done };  // idle: null, or persistent and inactive

inline RequestState state_of(MPI_Request handle, Request** request) {
  if (handle == MPI_REQUEST_NULL) return RequestState::idle;
  Request* r = request_of(handle);
  *request = r;
  if (r == nullptr) return RequestState::invalid;
  if (!r->flags.active) return RequestState::idle;
  if (core::is_done(*r)) return RequestState::done;
  if (r->on_poll != nullptr) {
    r->on_poll(*r);
    if (core::is_done(*r)) return RequestState::done;
  }
  return RequestState::pending;
}

inline void fill(MPI_Status* status, const Request& r) {
  set_status(status, r.source, r.tag, r.received, r.flags.cancelled);
}

// The error of a handle, at an index of an array, that is no request.
[[gnu::cold, gnu::noinline]] int bad_request(const char* function, MPI_Request handle, int index);

// Whether an array argument is one; MPI_SUCCESS, or the error raised.
inline int check_array(const char* function, int count, const MPI_Request* requests) {
  if (count < 0) [[unlikely]]
    return negative(nullptr, function, MPI_ERR_COUNT, "count", count);
  if (count > 0 && no_address(requests)) [[unlikely]]
    return null_argument(nullptr, function, "array_of_requests");
  return MPI_SUCCESS;
}

inline MPI_Status* at(MPI_Status* statuses, int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}

// The failed ones among several.
struct Failures {
  int count = 0;
  int index = 0;  // of the first
  Failure first;

  [[gnu::cold, gnu::noinline]] void add(int i, const Failure& failure) {
    if (count++ != 0) return;
    index = i;
    first = failure;
  }
};

// After the calls that complete several: MPI_ERR_IN_STATUS when one failed.
int several(const char* function, const Failures& failures);

// Looks at all requests; how many are in which state.
struct Survey {
  int pending = 0;
  int done = 0;
  int invalid = -1;  // index of an invalid one
};

Survey survey(int count, const MPI_Request requests[]);

// The first completed request, or -1; `*active` when there is any to wait for.
int first_done(int count, const MPI_Request requests[], bool* active, int* invalid);

// The common part of the functions that look for any: checks the arguments, and looks again after some progress. Fills
// `*found` as first_done(), and `*flag` of the call. MPI_SUCCESS, or the error raised.
[[nodiscard]] int look_for_any(const char* function, int count, const MPI_Request requests[], const int* index,
                               int* flag, bool* active, int* found);

}  // namespace weft::mpi
