// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The status of requests that are looked at and left as they are: Request_get_status in all its forms (MPI-5.0, 3.7.6).
#include "mpi/p2p/completion.hpp"

namespace weft::mpi {

namespace {

// The status of a request that stays as it is; the error of a generalized one's query function.
int look(MPI_Status* status, const Request& r) {
  if (r.flags.generalized) return query_generalized(r, status);
  fill(status, r);
  return MPI_SUCCESS;
}

}  // namespace

int request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  if (no_address(flag)) [[unlikely]]
    return null_argument(nullptr, "MPI_Request_get_status", "flag");
  Request* r = nullptr;
  RequestState state = state_of(request, &r);
  if (state == RequestState::invalid) [[unlikely]]
    return bad_request("MPI_Request_get_status", request, 0);
  if (state == RequestState::pending) {
    (void)core::progress();
    state = state_of(request, &r);
  }
  *flag = state != RequestState::pending;
  if (state == RequestState::idle) set_empty_status(status);
  if (state != RequestState::done) return MPI_SUCCESS;
  const int error = look(status, *r);
  return error == MPI_SUCCESS ? MPI_SUCCESS : fail_completed("MPI_Request_get_status", {.error = error});
}

namespace {

// Gives the status of one of several requests.
int show(MPI_Status* status, MPI_Request handle) {
  Request* r = nullptr;
  if (state_of(handle, &r) == RequestState::idle) {
    set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_SUCCESS, 0, false);
    return MPI_SUCCESS;
  }
  const int error = look(status, *r);
  if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = error != MPI_SUCCESS ? error : r->error;
  return error;
}

}  // namespace

int request_get_status_all(int count, const MPI_Request array_of_requests[], int* flag,
                           MPI_Status array_of_statuses[]) {
  const char* function = "MPI_Request_get_status_all";
  if (int error = check_array(function, count, array_of_requests)) return error;
  if (no_address(flag)) [[unlikely]]
    return null_argument(nullptr, function, "flag");
  Survey s = survey(count, array_of_requests);
  if (s.invalid < 0 && s.pending > 0) {
    (void)core::progress();
    s = survey(count, array_of_requests);
  }
  if (s.invalid >= 0) [[unlikely]]
    return bad_request(function, array_of_requests[s.invalid], s.invalid);
  *flag = s.pending == 0;
  Failures failures;
  for (int i = 0; s.pending == 0 && i < count; ++i) {
    const int error = show(at(array_of_statuses, i), array_of_requests[i]);
    if (error != MPI_SUCCESS) failures.add(i, {.error = error});
  }
  return several(function, failures);
}

int request_get_status_any(int count, const MPI_Request array_of_requests[], int* indx, int* flag, MPI_Status* status) {
  const char* function = "MPI_Request_get_status_any";
  bool active = false;
  int found = -1;
  if (int error = look_for_any(function, count, array_of_requests, indx, flag, &active, &found)) return error;
  *indx = found >= 0 ? found : MPI_UNDEFINED;
  if (found < 0) {
    if (!active) set_empty_status(status);
    return MPI_SUCCESS;
  }
  const Request& r = *request_of(array_of_requests[found]);
  const int error = look(status, r);
  return error == MPI_SUCCESS ? MPI_SUCCESS : fail_completed(function, {.error = error});
}

int request_get_status_some(int incount, const MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
                            MPI_Status array_of_statuses[]) {
  const char* function = "MPI_Request_get_status_some";
  if (int error = check_array(function, incount, array_of_requests)) return error;
  if (no_address(outcount) || (incount > 0 && no_address(array_of_indices))) [[unlikely]] {
    return null_argument(nullptr, function, no_address(outcount) ? "outcount" : "array_of_indices");
  }
  Survey s = survey(incount, array_of_requests);
  if (s.invalid < 0 && s.done == 0 && s.pending > 0) {
    (void)core::progress();
    s = survey(incount, array_of_requests);
  }
  if (s.invalid >= 0) [[unlikely]]
    return bad_request(function, array_of_requests[s.invalid], s.invalid);
  *outcount = s.done == 0 && s.pending == 0 ? MPI_UNDEFINED : 0;
  Failures failures;
  for (int i = 0; s.done > 0 && i < incount; ++i) {
    Request* r = nullptr;
    if (state_of(array_of_requests[i], &r) != RequestState::done) continue;
    const int error = show(at(array_of_statuses, *outcount), array_of_requests[i]);
    if (error != MPI_SUCCESS) failures.add(i, {.error = error});
    array_of_indices[(*outcount)++] = i;
  }
  return several(function, failures);
}

}  // namespace weft::mpi
