// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The common parts of point-to-point calls: the checks of their arguments, and starting a request. The checks are
// written twice on purpose: once as a few comparisons on the fast path of a correct call, once in cold code, to say
// what is wrong with an incorrect one.

#include "core/peer/peer.hpp"
#include "core/protocol/p2p.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/buffer.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"
#include "mpi/object/object.hpp"
#include "mpi/object/twin.hpp"

namespace weft::mpi {

using core::Mode;

// A call's arguments as objects.
struct Operation {
  Comm* comm;
  Type* type;
  int64_t bytes;
};

// Whether buffer, count and type describe data; fills in the type and its bytes.
inline bool good_data(Operation& op, const void* buffer, MPI_Count count, MPI_Datatype datatype) {
  op.type = type_of(datatype);
  return op.type != nullptr && op.type->committed && count >= 0 &&
         !__builtin_mul_overflow(count, op.type->size, &op.bytes) &&
         (!no_data(buffer, op.type->true_lower_bound) || op.bytes == 0);
}

// Like good_data(), for the arguments of most calls: a committed contiguous type and a buffer. It is also false for
// many correct arguments.
inline bool good_plain_data(Operation& op, const void* buffer, MPI_Count count, MPI_Datatype datatype) {
  op.type = type_of(datatype);
  return op.type != nullptr && op.type->plain && !no_address(buffer) && count >= 0 &&
         !__builtin_mul_overflow(count, op.type->size, &op.bytes);
}

// Whether this is a send to a rank of the communicator. It is also false for MPI_PROC_NULL, which is correct but sends
// nothing.
inline bool good_send(Operation& op, const void* buffer, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm) {
  op.comm = comm_of(comm);
  return op.comm != nullptr && static_cast<uint32_t>(dest) < static_cast<uint32_t>(op.comm->size) && tag >= 0 &&
         good_data(op, buffer, count, datatype);
}

// Likewise a receive; the communicator is there already.
inline bool good_receive_on(Comm* comm, Operation& op, const void* buffer, MPI_Count count, MPI_Datatype datatype,
                            int source, int tag) {
  op.comm = comm;
  return (static_cast<uint32_t>(source) < static_cast<uint32_t>(comm->size) || source == MPI_ANY_SOURCE) &&
         (tag >= 0 || tag == MPI_ANY_TAG) && good_data(op, buffer, count, datatype);
}

inline bool good_receive(Operation& op, const void* buffer, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                         MPI_Comm comm) {
  op.comm = comm_of(comm);
  return op.comm != nullptr && good_receive_on(op.comm, op, buffer, count, datatype, source, tag);
}

// Gives the table of calls those forms of MPI_Irecv and MPI_Recv that suit the threads of this process. At start,
// before statistics keep the table.
void choose_receives();

// Finds the fault of a call, and raises the error. MPI_SUCCESS when nothing is: the partner is MPI_PROC_NULL.
[[nodiscard, gnu::cold]] int explain_send(const char* function, const void* buffer, MPI_Count count,
                                          MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
[[nodiscard, gnu::cold]] int explain_receive(const char* function, const void* buffer, MPI_Count count,
                                             MPI_Datatype datatype, int source, int tag, MPI_Comm comm);
[[nodiscard, gnu::cold]] int explain_data(const Comm* comm, const char* function, const void* buffer, MPI_Count count,
                                          MPI_Datatype datatype);

// The objects of checked arguments. MPI_DATATYPE_NULL, which is let through with MPI_PROC_NULL and no data, stands for
// bytes.
inline Operation operation_of(MPI_Comm comm, MPI_Datatype datatype) {
  Operation op{comm_of(comm), type_of(datatype), 0};
  if (op.type == nullptr) op.type = &byte_type;
  if (op.comm == nullptr) __builtin_unreachable();
  return op;
}

// Frees a request that is done, or that never started, with what it keeps (completion.cpp).
void release(Request& r);

// The end of a call whose data a device could not copy; raises the error.
[[nodiscard, gnu::cold]] int device_failed(ErrorsOn on, const char* function, const std::string& problem);

// A request for checked arguments; nullptr when there is no memory.
[[nodiscard]] inline Request* new_request(const Operation& op, core::Role role, const void* buffer, MPI_Count count) {
  Request* r = core::new_request(*op.comm, role);
  if (r == nullptr) [[unlikely]]
    return nullptr;
  core::set_buffer(*r, const_cast<void*>(buffer), count, *op.type);
  if (!op.type->predefined) {  // the user may free the type before the operation ends
    r->type = op.type;
    ++op.type->references;
  }
  return r;
}

[[nodiscard, gnu::cold]] int no_memory(ErrorsOn on, const char* function);

inline MPI_Request done_request() {
  return handle_of<MPI_Request>(core::peers->done_send);
}

// MPI_Isend for a call that sends and receives: data that a device could not copy are an error of the request alone.
[[nodiscard]] int isend_within(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                               MPI_Comm comm, MPI_Request* request);

// completion.cpp: waits for a request of any kind, and ends one: fills the status (unless ignored), frees it or makes a
// persistent one inactive, and returns its error class without raising it.
// `call` is what the program called, for records of waits.
void wait_for(Request& r, const char* call);
int retire(MPI_Request* handle, Request& r, MPI_Status* status);
// retire(), and the error is raised.
[[nodiscard]] int finish(const char* function, MPI_Request* handle, Request& r, MPI_Status* status);

// The facts of a failed operation, kept beyond its request.
struct Failure {
  const Comm* comm = nullptr;
  int error = MPI_SUCCESS;
  bool collective = false;
  int tag = 0;
  core::Truncation truncation;
  const char* text = nullptr;  // where the operation has words of its own: until the thread's next failure
};
[[nodiscard, gnu::cold, gnu::noinline]] Failure failure_of(const Request& r);
[[nodiscard, gnu::cold, gnu::noinline]] int fail_completed(const char* function, const Failure& failure);

// ---- Generalized requests (grequest.cpp): completion calls these for Request::flags.generalized. The
// functions that return an error return that of the program's functions.

// Has the status told by the query function. The request is complete.
[[nodiscard]] int query_generalized(const Request& request, MPI_Status* status);

// The end of a complete one: its status is told, its state freed, the handle made null.
[[nodiscard]] int retire_generalized(MPI_Request* handle, Request& request, MPI_Status* status);

// MPI_Request_free and MPI_Cancel; they raise the error.
[[nodiscard]] int free_generalized(Request& request);
[[nodiscard]] int cancel_generalized(Request& request);

// ---- Requests of other chapters

// Whether the request is of a nonblocking or persistent collective operation (coll/request.cpp): it cannot be
// cancelled, nor freed while it is in flight (MPI-5.0, 6.12 and 6.13).
[[nodiscard]] bool is_collective(const Request& request);
// The operation of such a request.
[[nodiscard]] const core::Past& past_of_collective(const Request& request);
// Whether the request is of a one-sided operation (win/check.cpp): it must not be cancelled or freed (MPI-5.0, 12.3.5).
[[nodiscard]] bool is_one_sided(const Request& request);
[[nodiscard]] bool is_partitioned(const Request& request);
// Whether the request is of an access to a file (file/data.cpp): it cannot be cancelled, and MPI_Request_free waits for
// it. The text says how a complete access failed.
[[nodiscard]] bool is_file_access(const Request& request);
[[nodiscard]] const char* text_of_file_access(const Request& request);

}  // namespace weft::mpi
