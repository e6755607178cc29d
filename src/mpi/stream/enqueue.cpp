// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The operations that are enqueued: their arguments are checked here, the stream's thread calls what a program would.
#include "mpi/stream/enqueue.hpp"

#include <memory>
#include <vector>

#include "mpi/datatype/type.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/check.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/stream/stream.hpp"

namespace weft::mpi {
namespace {

// The program may free a type before its operation.
using HeldType = std::shared_ptr<Type>;
HeldType held(MPI_Datatype datatype) {
  Type* const type = type_of(datatype);
  return {type == nullptr ? nullptr : hold_type(type), [](Type* its) {
            if (its != nullptr) release_type(its);
          }};
}

// The stream of a communicator; nullptr: it has none, which is an error.
Stream* stream_for(const char* function, const Comm& comm, ErrorsOn on, int& error) {
  if (comm.stream != nullptr) return comm.stream;
  error =
      fail(on, function, MPI_ERR_COMM,
           "the communicator has no stream of a device: make it, or that of the window, by MPIX_Stream_comm_create");
  return nullptr;
}

// Hands an operation to the stream, and tells of one before that failed.
int put_on(const char* function, ErrorsOn on, Stream& stream, Enqueued operation) {
  const std::string problem = enqueue(stream, std::move(operation));
  if (!problem.empty())
    return fail(on, function, MPI_ERR_OTHER, "the operation could not be enqueued: %s", problem.c_str());
  return stream.failed.exchange(MPI_SUCCESS, std::memory_order_relaxed);
}

int check_send(const char* function, const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
               MPI_Comm comm, Stream*& stream) {
  Operation op;
  if (!good_send(op, buf, count, datatype, dest, tag, comm)) {
    if (int error = explain_send(function, buf, count, datatype, dest, tag, comm)) return error;
  }
  int error = MPI_SUCCESS;
  stream = stream_for(function, *comm_of(comm), comm_of(comm), error);
  return error;
}

int check_receive(const char* function, const void* buf, int count, MPI_Datatype datatype, int source, int tag,
                  MPI_Comm comm, Stream*& stream) {
  Operation op;
  if (!good_receive(op, buf, count, datatype, source, tag, comm)) {
    if (int error = explain_receive(function, buf, count, datatype, source, tag, comm)) return error;
  }
  int error = MPI_SUCCESS;
  stream = stream_for(function, *comm_of(comm), comm_of(comm), error);
  return error;
}

StreamRequest* new_stream_request(Stream& stream, MPI_Comm comm) {
  auto* const request = base::make_object<StreamRequest>();
  if (request == nullptr) return nullptr;
  request->stream = hold(&stream);
  request->comm = comm_of(comm);
  request->kind = base::Kind::stream_request;
  return request;
}

void destroy(StreamRequest* request) {
  drop(request->stream);
  base::destroy_object(request);
}

// Enqueues the start of an operation with a request.
int start_on(const char* function, Stream& stream, MPI_Comm comm, MPI_Request* request,
             std::function<int(MPI_Request*)> start) {
  StreamRequest* const made = new_stream_request(stream, comm);
  if (made == nullptr) return no_memory(comm_of(comm), function);
  const int error =
      put_on(function, comm_of(comm), stream, [start = std::move(start), made] { return start(&made->inner); });
  *request = handle_of<MPI_Request>(made);
  return error;
}

int no_request(const char* function, MPI_Request request) {
  return fail(nullptr, function, MPI_ERR_REQUEST, "%s: requests here are of MPIX_Isend_enqueue or MPIX_Irecv_enqueue",
              handle_text(reinterpret_cast<uintptr_t>(request)).c_str());
}

// Notifications are messages without data, apart from all others of the window.
uint32_t context_of_notes(const Win& win) {
  return win.comm->context | core::partitioned_contexts;
}

int note_failed(int32_t error, Win& win, const char* function) {
  return error == core::no_error ? MPI_SUCCESS : fail(&win, function, error, "the notification was lost");
}

}  // namespace

int send_enqueue(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  static const char* function = "MPIX_Send_enqueue";
  Stream* stream = nullptr;
  if (int error = check_send(function, buf, count, datatype, dest, tag, comm, stream)) return error;
  return put_on(function, comm_of(comm), *stream,
                [=, type = held(datatype)] { return send_c(buf, count, datatype, dest, tag, comm); });
}

int recv_enqueue(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  static const char* function = "MPIX_Recv_enqueue";
  Stream* stream = nullptr;
  if (int error = check_receive(function, buf, count, datatype, source, tag, comm, stream)) return error;
  return put_on(function, comm_of(comm), *stream,
                [=, type = held(datatype)] { return recv_c(buf, count, datatype, source, tag, comm, status); });
}

int isend_enqueue(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  static const char* function = "MPIX_Isend_enqueue";
  Stream* stream = nullptr;
  if (int error = check_send(function, buf, count, datatype, dest, tag, comm, stream)) return error;
  if (no_address(request)) return null_argument(comm_of(comm), function, "request");
  return start_on(function, *stream, comm, request, [=, type = held(datatype)](MPI_Request* inner) {
    return isend_c(buf, count, datatype, dest, tag, comm, inner);
  });
}

int irecv_enqueue(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  static const char* function = "MPIX_Irecv_enqueue";
  Stream* stream = nullptr;
  if (int error = check_receive(function, buf, count, datatype, source, tag, comm, stream)) return error;
  if (no_address(request)) return null_argument(comm_of(comm), function, "request");
  return start_on(function, *stream, comm, request, [=, type = held(datatype)](MPI_Request* inner) {
    return irecv_c(buf, count, datatype, source, tag, comm, inner);
  });
}

int waitall_enqueue(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[]) {
  static const char* function = "MPIX_Waitall_enqueue";
  if (count < 0) return negative(nullptr, function, MPI_ERR_COUNT, "count", count);
  if (count > 0 && no_address(array_of_requests)) return null_argument(nullptr, function, "array_of_requests");
  std::vector<StreamRequest*> requests;
  Stream* stream = nullptr;
  const Comm* comm = nullptr;
  for (int i = 0; i < count; ++i) {
    StreamRequest* const one = stream_request_of(array_of_requests[i]);
    if (one == nullptr && array_of_requests[i] != MPI_REQUEST_NULL) return no_request(function, array_of_requests[i]);
    if (one != nullptr && stream != nullptr && one->stream != stream) {
      return fail(one->comm, function, MPI_ERR_REQUEST,
                  "request %d is of another stream than those before: wait for those of each stream by themselves", i);
    }
    if (one != nullptr) {
      stream = one->stream;
      comm = one->comm;
    }
    requests.push_back(one);
  }
  const bool ignore = array_of_statuses == MPI_STATUSES_IGNORE;
  const auto wait_for_them = [requests, array_of_statuses, ignore] {
    int worst = MPI_SUCCESS;
    for (size_t i = 0; i < requests.size(); ++i) {
      MPI_Request none = MPI_REQUEST_NULL;
      MPI_Request* const inner = requests[i] == nullptr ? &none : &requests[i]->inner;
      const int error = wait(inner, ignore ? MPI_STATUS_IGNORE : &array_of_statuses[i]);
      if (worst == MPI_SUCCESS) worst = error;
      if (requests[i] != nullptr) destroy(requests[i]);
    }
    return worst;
  };
  if (stream == nullptr) return wait_for_them();
  for (int i = 0; i < count; ++i) array_of_requests[i] = MPI_REQUEST_NULL;
  return put_on(function, comm, *stream, wait_for_them);
}

int wait_enqueue(MPI_Request* request, MPI_Status* status) {
  static const char* function = "MPIX_Wait_enqueue";
  if (no_address(request)) return null_argument(nullptr, function, "request");
  if (stream_request_of(*request) == nullptr && *request != MPI_REQUEST_NULL) return no_request(function, *request);
  return waitall_enqueue(1, request, status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status);
}

int allreduce_enqueue(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  static const char* function = "MPIX_Allreduce_enqueue";
  Check check(function, comm);
  if (check.failed()) return check.error();
  int64_t bytes = 0;
  const Type* type = check.elements({recvbuf, count, datatype}, bytes);
  if (!check.failed()) check.buffer(recvbuf, bytes, *type, "recv");
  if (!check.failed() && sendbuf != MPI_IN_PLACE) check.buffer(sendbuf, bytes, *type, "send");
  if (check.failed()) return check.error();
  if (op_of(op) == nullptr) return bad_handle(check.on(), function, MPI_ERR_OP, "reduction operation", op);
  int error = MPI_SUCCESS;
  Stream* const stream = stream_for(function, check.comm(), check.on(), error);
  if (stream == nullptr) return error;
  return put_on(function, check.on(), *stream,
                [=, held_type = held(datatype)] { return allreduce_c(sendbuf, recvbuf, count, datatype, op, comm); });
}

int put_notify_enqueue(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                       MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, int tag, MPI_Win win) {
  static const char* function = "MPIX_Put_notify_enqueue";
  Check check(function, win);
  check.rank(target_rank, "target_rank");
  check.tag(tag);
  int64_t bytes = 0;
  (void)check.data({origin_addr, origin_count, origin_datatype, "origin_"}, bytes);
  (void)check.elements({nullptr, target_count, target_datatype, "target_"}, bytes);
  if (check.failed() || target_rank == MPI_PROC_NULL) return check.error();
  int error = MPI_SUCCESS;
  Stream* const stream = stream_for(function, static_cast<Comm&>(*check.win().comm), &check.win(), error);
  if (stream == nullptr) return error;
  return put_on(function, &check.win(), *stream, [=, origin = held(origin_datatype), target = held(target_datatype)] {
    Win& w = *win_of(win);
    int failed =
        put_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win);
    if (failed == MPI_SUCCESS) failed = win_flush(target_rank, win);
    if (failed != MPI_SUCCESS) return failed;
    return note_failed(core::send(*w.comm, context_of_notes(w), nullptr, 0, byte_type, target_rank, tag), w, function);
  });
}

int wait_notify_enqueue(int source, int tag, MPI_Win win) {
  static const char* function = "MPIX_Wait_notify_enqueue";
  Check check(function, win);
  check.rank(source, "source", true);
  check.tag(tag);
  if (check.failed() || source == MPI_PROC_NULL) return check.error();
  int error = MPI_SUCCESS;
  Stream* const stream = stream_for(function, static_cast<Comm&>(*check.win().comm), &check.win(), error);
  if (stream == nullptr) return error;
  return put_on(function, &check.win(), *stream, [=] {
    Win& w = *win_of(win);
    return note_failed(core::receive(*w.comm, context_of_notes(w), nullptr, 0, byte_type, source, tag), w, function);
  });
}

}  // namespace weft::mpi
