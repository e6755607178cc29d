// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Blocking and nonblocking sends and receives (MPI-5.0, 3.2, 3.4, 3.7).
#include "mpi/p2p.hpp"

#include "core/send_now.hpp"

namespace weft::mpi {

static_assert(core::any_source == MPI_ANY_SOURCE && core::any_tag == MPI_ANY_TAG && core::proc_null == MPI_PROC_NULL);
static_assert(core::no_error == MPI_SUCCESS && core::truncated == MPI_ERR_TRUNCATE &&
              core::other_error == MPI_ERR_OTHER && core::internal_error == MPI_ERR_INTERN &&
              core::no_memory == MPI_ERR_NO_MEM);

int no_memory(const Comm* comm, const char* function) {
  return fail(comm, function, MPI_ERR_NO_MEM, "no memory for a request; complete or free requests, or free memory");
}

int explain_data(const Comm* comm, const char* function, const void* buffer, MPI_Count count, MPI_Datatype datatype) {
  if (count < 0)
    return fail(comm, function, MPI_ERR_COUNT, "the count is %lld, below 0", static_cast<long long>(count));
  const Type* type = type_of(datatype);
  if (type == nullptr) return bad_type(comm, function, datatype);
  if (!type->committed) {
    return fail(comm, function, MPI_ERR_TYPE, "the datatype is not committed; call MPI_Type_commit first");
  }
  int64_t bytes = 0;
  if (__builtin_mul_overflow(count, type->size, &bytes)) {
    return fail(comm, function, MPI_ERR_COUNT, "%lld elements of %lld bytes are more than an address can hold",
                static_cast<long long>(count), static_cast<long long>(type->size));
  }
  if (buffer == nullptr && bytes != 0 && type->contiguous) {
    return fail(comm, function, MPI_ERR_BUFFER, "the buffer is a null pointer, for %lld bytes of data",
                static_cast<long long>(bytes));
  }
  return MPI_SUCCESS;
}

int explain_send(const char* function, const void* buffer, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm) {
  const Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm(function, comm);
  if (dest != MPI_PROC_NULL && (dest < 0 || dest >= c->size)) {
    return fail(c, function, MPI_ERR_RANK,
                "destination %d is not a rank of this communicator (0 to %d) or MPI_PROC_NULL", dest, c->size - 1);
  }
  if (tag < 0) return fail(c, function, MPI_ERR_TAG, "tag %d is outside 0 to %d (MPI_TAG_UB)", tag, INT32_MAX);
  if (dest == MPI_PROC_NULL && count == 0) return MPI_SUCCESS;  // as everywhere: the type is not looked at
  return explain_data(c, function, buffer, count, datatype);
}

int explain_receive(const char* function, const void* buffer, MPI_Count count, MPI_Datatype datatype, int source,
                    int tag, MPI_Comm comm) {
  const Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm(function, comm);
  if (source != MPI_PROC_NULL && source != MPI_ANY_SOURCE && (source < 0 || source >= c->size)) {
    return fail(c, function, MPI_ERR_RANK,
                "source %d is not a rank of this communicator (0 to %d), MPI_ANY_SOURCE or MPI_PROC_NULL", source,
                c->size - 1);
  }
  if (tag < 0 && tag != MPI_ANY_TAG) {
    return fail(c, function, MPI_ERR_TAG, "tag %d is outside 0 to %d (MPI_TAG_UB) and not MPI_ANY_TAG", tag, INT32_MAX);
  }
  if (source == MPI_PROC_NULL && count == 0) return MPI_SUCCESS;
  return explain_data(c, function, buffer, count, datatype);
}

namespace {

constexpr const char* name_of_send(Mode mode, bool blocking) {
  switch (mode) {
    case Mode::synchronous:
      return blocking ? "MPI_Ssend" : "MPI_Issend";
    case Mode::ready:
      return blocking ? "MPI_Rsend" : "MPI_Irsend";
    default:
      return blocking ? "MPI_Send" : "MPI_Isend";
  }
}

// The general way of a nonblocking send: any size, layout and mode, and arguments that may be wrong.
template <Mode mode, bool blocking = false>
[[gnu::noinline]] int isend_general(const void* buffer, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                                    MPI_Comm comm, MPI_Request* request) {
  static constexpr const char* function = name_of_send(mode, blocking);
  Operation op;
  const bool good = good_send(op, buffer, count, datatype, dest, tag, comm);
  if (!good) {
    if (int error = explain_send(function, buffer, count, datatype, dest, tag, comm)) return error;
  }
  if (request == nullptr) {
    return fail(op.comm, function, MPI_ERR_ARG, "the address for the request is a null pointer");
  }
  *request = done_request();
  if (!good) return MPI_SUCCESS;  // to MPI_PROC_NULL
  if (mode != Mode::synchronous && op.type->contiguous &&
      core::send_now(*op.comm, op.comm->context, buffer, op.bytes, dest, tag)) {
    return MPI_SUCCESS;
  }
  Request* r = new_request(op, core::Role::send, buffer, count);
  if (r == nullptr) return no_memory(op.comm, function);
  r->mode = mode;
  core::start_send(*r, op.comm->context, dest, tag);
  *request = handle_of<MPI_Request>(r);
  return MPI_SUCCESS;
}

template <Mode mode>
[[gnu::noinline]] int send_general(const void* buffer, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                                   MPI_Comm comm) {
  static constexpr const char* function = name_of_send(mode, true);
  MPI_Request request = MPI_REQUEST_NULL;
  if (int error = isend_general<mode, true>(buffer, count, datatype, dest, tag, comm, &request)) return error;
  Request& r = *request_of(request);
  wait_for(r);
  const int error = retire(&request, r, MPI_STATUS_IGNORE);
  return error == MPI_SUCCESS ? MPI_SUCCESS : fail_completed(comm_of(comm), function, error);
}

template <bool blocking>
[[gnu::noinline]] int irecv_general(void* buffer, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                                    MPI_Comm comm, MPI_Request* request) {
  static constexpr const char* function = blocking ? "MPI_Recv" : "MPI_Irecv";
  Operation op;
  const bool good = good_receive(op, buffer, count, datatype, source, tag, comm);
  if (!good) {
    if (int error = explain_receive(function, buffer, count, datatype, source, tag, comm)) return error;
  }
  if (request == nullptr) {
    return fail(op.comm, function, MPI_ERR_ARG, "the address for the request is a null pointer");
  }
  *request = done_request();
  if (!good) return MPI_SUCCESS;  // from MPI_PROC_NULL
  Request* r = new_request(op, core::Role::receive, buffer, count);
  if (r == nullptr) return no_memory(op.comm, function);
  *request = handle_of<MPI_Request>(r);
  core::start_receive(*r, op.comm->context, source, tag);
  return MPI_SUCCESS;
}

// A few bytes to a rank of this host, all arguments plainly good: what is worth a road of its own. Its slow exits are
// calls in tail position with the arguments as they came, so that nothing is saved for them.
[[gnu::always_inline]] inline bool send_small(const void* buffer, MPI_Count count, MPI_Datatype datatype, int dest,
                                              int tag, MPI_Comm comm) {
  Operation op;
  return good_plain_data(op, buffer, count, datatype) && (op.comm = comm_of(comm)) != nullptr &&
         static_cast<uint32_t>(dest) < static_cast<uint32_t>(op.comm->size) && tag >= 0 &&
         core::send_tiny(*op.comm, buffer, op.bytes, dest, tag);
}

template <Mode mode>
[[gnu::always_inline]] inline int isend(const void* buffer, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                                        MPI_Comm comm, MPI_Request* request) {
  if (mode != Mode::synchronous && request != nullptr && send_small(buffer, count, datatype, dest, tag, comm))
      [[likely]] {
    *request = done_request();
    return MPI_SUCCESS;
  }
  return isend_general<mode>(buffer, count, datatype, dest, tag, comm, request);
}

template <Mode mode>
[[gnu::always_inline]] inline int send(const void* buffer, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                                       MPI_Comm comm) {
  if (mode != Mode::synchronous && send_small(buffer, count, datatype, dest, tag, comm)) [[likely]] {
    return MPI_SUCCESS;
  }
  return send_general<mode>(buffer, count, datatype, dest, tag, comm);
}

}  // namespace

// A ready send is a standard send: its receive is posted, so nothing is to be gained by knowing it.

int send_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return send<Mode::standard>(buf, count, datatype, dest, tag, comm);
}
int ssend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return send<Mode::synchronous>(buf, count, datatype, dest, tag, comm);
}
int rsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return send<Mode::ready>(buf, count, datatype, dest, tag, comm);
}

int isend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
            MPI_Request* request) {
  return isend<Mode::standard>(buf, count, datatype, dest, tag, comm, request);
}
int issend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
             MPI_Request* request) {
  return isend<Mode::synchronous>(buf, count, datatype, dest, tag, comm, request);
}
int irsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
             MPI_Request* request) {
  return isend<Mode::ready>(buf, count, datatype, dest, tag, comm, request);
}

namespace {

// What follows the checks of a plain receive when there are unexpected messages or other threads, or no request at
// hand.
[[gnu::noinline]] int irecv_busy(void* buf, int64_t bytes, int source, int tag, Comm& comm, MPI_Request* request) {
  Request* r = core::new_request(comm, core::Role::receive);
  if (r == nullptr) [[unlikely]]
    return no_memory(&comm, "MPI_Irecv");
  r->buffer = buf;
  r->bytes = bytes;
  r->layout = nullptr;
  *request = handle_of<MPI_Request>(r);
  core::start_specific_receive(*r, comm.context, source, tag);
  return MPI_SUCCESS;
}

template <bool blocking>
[[gnu::always_inline]] inline int irecv(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                                        MPI_Comm comm, MPI_Request* request) {
  Operation op;
  if (!good_plain_data(op, buf, count, datatype) || (op.comm = comm_of(comm)) == nullptr ||
      static_cast<uint32_t>(source) >= static_cast<uint32_t>(op.comm->size) || tag < 0 || request == nullptr ||
      !op.type->predefined) [[unlikely]] {
    return irecv_general<blocking>(buf, count, datatype, source, tag, comm, request);
  }
  if (core::lanes[0].matcher.busy() || core::main_thread.free_requests == nullptr) [[unlikely]]
    return irecv_busy(buf, op.bytes, source, tag, *op.comm, request);
  Request* r = core::prepare(core::main_thread.take_first(), *op.comm, core::Role::receive);
  r->buffer = buf;
  r->bytes = op.bytes;
  r->layout = nullptr;
  *request = handle_of<MPI_Request>(r);
  core::post_specific_receive(*r, op.comm->context, source, tag);
  return MPI_SUCCESS;
}

}  // namespace

int irecv_c(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
            MPI_Request* request) {
  return irecv<false>(buf, count, datatype, source, tag, comm, request);
}

int recv_c(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (int error = irecv<true>(buf, count, datatype, source, tag, comm, &request)) return error;
  Request& r = *request_of(request);
  wait_for(r);
  const int error = retire(&request, r, status);
  return error == MPI_SUCCESS ? MPI_SUCCESS : fail_completed(comm_of(comm), "MPI_Recv", error);
}

}  // namespace weft::mpi
