// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Completion: Wait and Test in all their forms (MPI-5.0, 3.7.3 to 3.7.5).
#include "mpi/p2p/completion.hpp"

#include <cstdio>
#include <utility>

#include "coll/shm/call.hpp"
#include "mpi/datatype/type.hpp"
#include "mpi/object/check.hpp"
#include "mpi/object/recent_errors.hpp"
#include "mpi/object/wait_record.hpp"

namespace weft::mpi {

[[gnu::cold, gnu::noinline]] int bad_request(const char* function, MPI_Request handle, int index) {
  if (!is_running()) return bad_comm(function, MPI_COMM_WORLD);
  return fail(nullptr, function, MPI_ERR_REQUEST,
              "request %d (handle %p) is not a live request: it was freed, completed and copied, or never started",
              index, static_cast<void*>(handle));
}

namespace {

const Comm* comm_of_request(const Request& r) {
  return static_cast<const Comm*>(r.comm);
}

std::string text_of(const Failure& failure) {
  const core::Truncation& long_one = failure.truncation;
  if (failure.text != nullptr) return failure.text;
  if (failure.collective && coll::call::is_difference(long_one)) return coll::call::text(long_one);
  char text[256];
  if (failure.error != MPI_ERR_TRUNCATE || long_one.sent <= long_one.room) {
    snprintf(text, sizeof text, "the operation failed: %s", error_text(failure.error));
  } else if (failure.collective) {
    snprintf(text, sizeof text,
             "rank %d sent %lld bytes where this rank has space for %lld: counts and datatypes must match on all "
             "ranks",
             long_one.source, static_cast<long long>(long_one.sent), static_cast<long long>(long_one.room));
  } else {
    snprintf(text, sizeof text,
             "the message from rank %d with tag %d has %lld bytes, and the buffer has space for %lld: the part that "
             "fits was received",
             long_one.source, failure.tag, static_cast<long long>(long_one.sent),
             static_cast<long long>(long_one.room));
  }
  return text;
}

// Ends a completed request among several: its error goes into its status.
void retire_one_of_many(MPI_Request* handle, Request& r, MPI_Status* status, int index, Failures& failures) {
  Failure failure;
  if (r.error != MPI_SUCCESS) [[unlikely]]
    failure = failure_of(r);
  const int error = retire(handle, r, status);
  if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = error;
  if (error == MPI_SUCCESS) [[likely]]
    return;
  failure.error = error;
  failures.add(index, failure);
  keep_message(error, ("request " + std::to_string(index)).c_str(), text_of(failure).c_str(), "");
}

}  // namespace

int several(const char* function, const Failures& failures) {
  if (failures.count == 0) [[likely]]
    return MPI_SUCCESS;
  return fail(failures.first.comm, function, MPI_ERR_IN_STATUS,
              "%d of the operations failed; the statuses say which and why. The first is request %d: %s",
              failures.count, failures.index, text_of(failures.first).c_str());
}

namespace {

void wait_as(const WaitRecord& wait_record, Request& r) {
  const Doing doing(wait_record);
  if (r.on_poll == nullptr) return core::wait(r);
  core::wait_until([&] {
    if (!core::is_done(r)) r.on_poll(r);
    return core::is_done(r);
  });
}

// One of several requests of the program, while it is pending.
const Request* pending_one(const void* requests, int32_t i) {
  const Request* r = request_of(static_cast<const MPI_Request*>(requests)[i]);
  return r != nullptr && r->flags.active && !core::is_done(*r) ? r : nullptr;
}

WaitRecord wait_record_of(const char* call, int count, const MPI_Request requests[], WaitKind kind) {
  return {.kind = kind, .call = call, .count = count, .request = pending_one, .requests = requests};
}

}  // namespace

void wait_for(Request& r, const char* call) {
  if (core::is_done(r)) return;
  const Comm* comm = r.flags.generalized ? nullptr : comm_of_request(r);
  const core::Past* past = is_collective(r) ? &past_of_collective(r) : nullptr;
  if (past == nullptr) return wait_as({.call = call, .comm = comm, .name = comm != nullptr ? name_comm : nullptr}, r);
  wait_as({.kind = WaitKind::collective,
           .call = past->call,
           .comm = comm,
           .root = past->root,
           .bytes = past->bytes,
           .order = past->order,
           .name = name_comm},
          r);
}

void release(Request& r) {
  if (r.on_free != nullptr) r.on_free(r);
  if (r.type != nullptr) release_type(r.type);
  core::free_request(&r);
}

namespace {

// The end of a request that is more than its handle, apart so that other requests pay one test for it.
[[gnu::noinline]] int retire_special(MPI_Request* handle, Request& r, MPI_Status* status) {
  if (r.flags.generalized) return retire_generalized(handle, r, status);
  if (status != MPI_STATUS_IGNORE) fill(status, r);
  r.flags.active = false;
  return r.error;
}

// retire() as MPI_Wait and MPI_Test have it: a call less. `error` is the request's.
[[gnu::always_inline]] inline int retire_here(MPI_Request* handle, Request& r, MPI_Status* status, int error) {
  if (r.flags.persistent) return retire_special(handle, r, status);
  if (status != MPI_STATUS_IGNORE) fill(status, r);
  *handle = MPI_REQUEST_NULL;
  if (!r.flags.shared) release(r);
  return error;
}

}  // namespace

int retire(MPI_Request* handle, Request& r, MPI_Status* status) {
  return retire_here(handle, r, status, r.error);
}

namespace {

// How a copy of a device failed. The text is the thread's until its next failure.
[[gnu::cold]] const char* text_of_device() {
  static thread_local std::string text;
  text = "data could not be copied from or to a device: " + device::last_problem();
  return text.c_str();
}

}  // namespace

int device_failed(ErrorsOn on, const char* function, const std::string& problem) {
  return fail(on, function, MPI_ERR_OTHER, "data could not be copied from or to a device: %s", problem.c_str());
}

Failure failure_of(const Request& r) {
  const bool collective = is_collective(r);
  const Comm* comm = r.flags.generalized ? nullptr : comm_of_request(r);
  return {comm,
          r.error,
          collective,
          r.tag,
          {collective ? r.partner : r.source, r.limit, r.bytes},
          is_file_access(r)                               ? text_of_file_access(r)
          : r.flags.on_device && r.error == MPI_ERR_OTHER ? text_of_device()
                                                          : nullptr};
}

int fail_completed(const char* function, const Failure& failure) {
  return fail(failure.comm, function, failure.error, "%s", text_of(failure).c_str());
}

namespace {

// The end of a request that failed, or that is persistent or generalized: the functions of those may fail.
[[gnu::noinline]] int finish_slowly(const char* function, MPI_Request* handle, Request& r, MPI_Status* status) {
  Failure failure;
  if (r.error != MPI_SUCCESS) failure = failure_of(r);
  failure.error = retire(handle, r, status);
  return failure.error == MPI_SUCCESS ? MPI_SUCCESS : fail_completed(function, failure);
}

[[gnu::always_inline]] inline int finish_here(const char* function, MPI_Request* handle, Request& r,
                                              MPI_Status* status) {
  if (r.error != MPI_SUCCESS || r.flags.persistent) [[unlikely]]
    return finish_slowly(function, handle, r, status);
  return retire_here(handle, r, status, MPI_SUCCESS);
}

}  // namespace

int finish(const char* function, MPI_Request* handle, Request& r, MPI_Status* status) {
  return finish_here(function, handle, r, status);
}

int wait(MPI_Request* request, MPI_Status* status) {
  if (no_address(request)) [[unlikely]]
    return null_argument(nullptr, "MPI_Wait", "request");
  Request* r = nullptr;
  const RequestState state = state_of(*request, &r);
  if (state == RequestState::invalid) [[unlikely]]
    return bad_request("MPI_Wait", *request, 0);
  if (state == RequestState::idle) {
    set_empty_status(status);
    return MPI_SUCCESS;
  }
  if (state == RequestState::pending) {
    core::join(*r);
    wait_for(*r, "MPI_Wait");
  }
  return finish_here("MPI_Wait", request, *r, status);
}

namespace {

// Counts the tests of this thread: which of them look at all lanes.
uint32_t test_round() {
  static thread_local uint32_t round = 0;
  return ++round;
}

}  // namespace

int test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (no_address(request) || no_address(flag)) [[unlikely]]
    return null_argument(nullptr, "MPI_Test", no_address(request) ? "request" : "flag");
  Request* r = nullptr;
  RequestState state = state_of(*request, &r);
  if (state == RequestState::invalid) [[unlikely]]
    return bad_request("MPI_Test", *request, 0);
  if (state == RequestState::pending) {
    (void)core::progress_for(*r, test_round());
    state = state_of(*request, &r);
  }
  *flag = state != RequestState::pending;
  if (state == RequestState::pending) return MPI_SUCCESS;
  if (state == RequestState::idle) {
    set_empty_status(status);
    return MPI_SUCCESS;
  }
  return finish_here("MPI_Test", request, *r, status);
}

namespace {

// The end of most requests: plain, complete, without error, and without a status to write. False: it is another case.
[[gnu::always_inline]] inline bool retire_plain(MPI_Request* handle) {
  Request* r = request_of(*handle);
  if (r == nullptr || !core::is_done(*r) || !r->flags.active || r->flags.persistent || r->error != MPI_SUCCESS ||
      r->on_free != nullptr || r->type != nullptr) {
    return false;
  }
  *handle = MPI_REQUEST_NULL;
  if (!r->flags.shared) core::free_request(r);
  return true;
}

void join_sends(int count, const MPI_Request requests[]) {
  for (int i = 0; i < count; ++i) {
    if (Request* const r = request_of(requests[i])) core::join(*r);
  }
}

}  // namespace

int waitall(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[]) {
  if (int error = check_array("MPI_Waitall", count, array_of_requests)) return error;
  Failures failures;
  bool joined = false;
  for (int i = 0; i < count; ++i) {
    if (array_of_statuses == MPI_STATUSES_IGNORE && retire_plain(&array_of_requests[i])) [[likely]]
      continue;
    Request* r = nullptr;
    const RequestState state = state_of(array_of_requests[i], &r);
    if (state == RequestState::invalid) [[unlikely]]
      return bad_request("MPI_Waitall", array_of_requests[i], i);
    if (state == RequestState::idle) {
      set_status(at(array_of_statuses, i), MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_SUCCESS, 0, false);
      continue;
    }
    if (state == RequestState::pending) {
      if (!std::exchange(joined, true)) join_sends(count - i, array_of_requests + i);
      wait_as(wait_record_of("MPI_Waitall", count - i, array_of_requests + i, WaitKind::all), *r);
      if (array_of_statuses == MPI_STATUSES_IGNORE && retire_plain(&array_of_requests[i])) continue;
    }
    retire_one_of_many(&array_of_requests[i], *r, at(array_of_statuses, i), i, failures);
  }
  return several("MPI_Waitall", failures);
}

Survey survey(int count, const MPI_Request requests[]) {
  Survey s;
  for (int i = 0; i < count; ++i) {
    Request* r = nullptr;
    switch (state_of(requests[i], &r)) {
      case RequestState::invalid:
        s.invalid = i;
        return s;
      case RequestState::idle:
        break;
      case RequestState::pending:
        ++s.pending;
        break;
      case RequestState::done:
        ++s.done;
        break;
    }
  }
  return s;
}

int first_done(int count, const MPI_Request requests[], bool* active, int* invalid) {
  *active = false;
  for (int i = 0; i < count; ++i) {
    Request* r = nullptr;
    const RequestState state = state_of(requests[i], &r);
    if (state == RequestState::done) return i;
    if (state == RequestState::pending) *active = true;
    if (state == RequestState::invalid) {
      *invalid = i;
      return -1;
    }
  }
  return -1;
}

namespace {

int retire_any(const char* function, MPI_Request requests[], int i, int* index, MPI_Status* status) {
  *index = i;
  return finish(function, &requests[i], *request_of(requests[i]), status);
}

// Ends all completed requests of the array and lists them.
int retire_some(const char* function, int count, MPI_Request requests[], int* outcount, int indices[],
                MPI_Status statuses[]) {
  Failures failures;
  *outcount = 0;
  for (int i = 0; i < count; ++i) {
    Request* r = nullptr;
    if (state_of(requests[i], &r) != RequestState::done) continue;
    retire_one_of_many(&requests[i], *r, at(statuses, *outcount), i, failures);
    indices[(*outcount)++] = i;
  }
  return several(function, failures);
}

}  // namespace

int testall(int count, MPI_Request array_of_requests[], int* flag, MPI_Status array_of_statuses[]) {
  if (int error = check_array("MPI_Testall", count, array_of_requests)) return error;
  if (no_address(flag)) [[unlikely]]
    return null_argument(nullptr, "MPI_Testall", "flag");
  Survey s = survey(count, array_of_requests);
  if (s.invalid < 0 && s.pending > 0) {
    (void)core::progress();
    s = survey(count, array_of_requests);
  }
  if (s.invalid >= 0) [[unlikely]]
    return bad_request("MPI_Testall", array_of_requests[s.invalid], s.invalid);
  *flag = s.pending == 0;
  return s.pending == 0 ? waitall(count, array_of_requests, array_of_statuses) : MPI_SUCCESS;
}

int waitany(int count, MPI_Request array_of_requests[], int* indx, MPI_Status* status) {
  if (int error = check_array("MPI_Waitany", count, array_of_requests)) return error;
  if (no_address(indx)) [[unlikely]]
    return null_argument(nullptr, "MPI_Waitany", "index");
  bool active = false;
  int invalid = -1;
  int found = -1;
  const WaitRecord wait_record = wait_record_of("MPI_Waitany", count, array_of_requests, WaitKind::any);
  const Doing doing(wait_record);
  core::wait_until([&] {
    found = first_done(count, array_of_requests, &active, &invalid);
    return found >= 0 || invalid >= 0 || !active;
  });
  if (invalid >= 0) [[unlikely]]
    return bad_request("MPI_Waitany", array_of_requests[invalid], invalid);
  if (found >= 0) return retire_any("MPI_Waitany", array_of_requests, found, indx, status);
  *indx = MPI_UNDEFINED;
  set_empty_status(status);
  return MPI_SUCCESS;
}

int look_for_any(const char* function, int count, const MPI_Request requests[], const int* index, int* flag,
                 bool* active, int* found) {
  if (int error = check_array(function, count, requests)) return error;
  if (no_address(index) || no_address(flag)) [[unlikely]]
    return null_argument(nullptr, function, no_address(flag) ? "flag" : "index");
  int invalid = -1;
  *found = first_done(count, requests, active, &invalid);
  if (*found < 0 && *active && invalid < 0) {
    (void)core::progress();
    *found = first_done(count, requests, active, &invalid);
  }
  if (invalid >= 0) [[unlikely]]
    return bad_request(function, requests[invalid], invalid);
  *flag = *found >= 0 || !*active;
  return MPI_SUCCESS;
}

int testany(int count, MPI_Request array_of_requests[], int* indx, int* flag, MPI_Status* status) {
  bool active = false;
  int found = -1;
  if (int error = look_for_any("MPI_Testany", count, array_of_requests, indx, flag, &active, &found)) return error;
  *indx = MPI_UNDEFINED;
  if (found >= 0) return retire_any("MPI_Testany", array_of_requests, found, indx, status);
  if (!active) set_empty_status(status);
  return MPI_SUCCESS;
}

int waitsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
             MPI_Status array_of_statuses[]) {
  if (int error = check_array("MPI_Waitsome", incount, array_of_requests)) return error;
  if (no_address(outcount) || (incount > 0 && no_address(array_of_indices))) [[unlikely]] {
    return null_argument(nullptr, "MPI_Waitsome", no_address(outcount) ? "outcount" : "array_of_indices");
  }
  bool active = false;
  int invalid = -1;
  int found = -1;
  const WaitRecord wait_record = wait_record_of("MPI_Waitsome", incount, array_of_requests, WaitKind::any);
  const Doing doing(wait_record);
  core::wait_until([&] {
    found = first_done(incount, array_of_requests, &active, &invalid);
    return found >= 0 || invalid >= 0 || !active;
  });
  if (invalid >= 0) [[unlikely]]
    return bad_request("MPI_Waitsome", array_of_requests[invalid], invalid);
  if (found < 0) {
    *outcount = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  return retire_some("MPI_Waitsome", incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
}

int testsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
             MPI_Status array_of_statuses[]) {
  if (int error = check_array("MPI_Testsome", incount, array_of_requests)) return error;
  if (no_address(outcount) || (incount > 0 && no_address(array_of_indices))) [[unlikely]] {
    return null_argument(nullptr, "MPI_Testsome", no_address(outcount) ? "outcount" : "array_of_indices");
  }
  Survey s = survey(incount, array_of_requests);
  if (s.invalid < 0 && s.done == 0 && s.pending > 0) {
    (void)core::progress();
    s = survey(incount, array_of_requests);
  }
  if (s.invalid >= 0) [[unlikely]]
    return bad_request("MPI_Testsome", array_of_requests[s.invalid], s.invalid);
  if (s.done == 0 && s.pending == 0) {
    *outcount = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  return retire_some("MPI_Testsome", incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
}

}  // namespace weft::mpi
