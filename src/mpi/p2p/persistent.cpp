// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Persistent requests (MPI-5.0, 3.9): the same request is described once and started many times.
#include "core/message/completion.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"
#include "mpi/p2p/bsend.hpp"
#include "mpi/p2p/p2p.hpp"

namespace weft::mpi {

namespace {

int start_again(Request& r) {
  const auto tag = r.match.tag;
  const auto context = r.match.context;
  if (r.partner == MPI_PROC_NULL) {
    r.source = MPI_PROC_NULL;
    r.tag = MPI_ANY_TAG;
    r.received = 0;
    core::complete(r);
  } else if (r.role == core::Role::receive) {
    core::start_receive(r, context, r.partner, tag);
  } else {
    core::start_send(r, context, r.partner, tag);
  }
  return MPI_SUCCESS;
}

int start_buffered(Request& r) {
  Comm& comm = *static_cast<Comm*>(r.comm);
  if (r.partner != MPI_PROC_NULL) {
    // The layout of a contiguous type is not kept: its bytes are.
    Type& type = r.layout != nullptr ? *r.layout : byte_type;
    const int64_t count = r.layout != nullptr ? r.count : r.bytes;
    if (int error = buffered_send(comm, r.buffer, count, type, r.partner, r.match.tag, "MPI_Start")) return error;
  }
  r.source = MPI_PROC_NULL;
  r.tag = MPI_ANY_TAG;
  r.received = 0;
  core::complete(r);
  return MPI_SUCCESS;
}

int describe(const char* function, core::Role role, const void* buf, MPI_Count count, MPI_Datatype datatype,
             int partner, int tag, MPI_Comm comm, Mode mode, MPI_Request* request) {
  const Operation op = operation_of(comm, datatype);
  if (no_address(request)) return null_argument(op.comm, function, "request");
  Request* r = new_request(op, role, buf, count);
  if (r == nullptr) return no_memory(op.comm, function);
  r->flags.active = false;
  r->flags.persistent = true;
  r->mode = mode;
  r->partner = partner;
  r->match = {op.comm->context, op.comm->rank, tag, 0};
  r->on_start = mode == Mode::buffered ? start_buffered : start_again;
  *request = handle_of<MPI_Request>(r);
  return MPI_SUCCESS;
}

int describe_send(const char* function, const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, Mode mode, MPI_Request* request) {
  if (int error = explain_send(function, buf, count, datatype, dest, tag, comm)) return error;
  return describe(function, core::Role::send, buf, count, datatype, dest, tag, comm, mode, request);
}

// Why a request cannot be started; MPI_SUCCESS when it can.
int check_start(const char* function, MPI_Request handle, int index) {
  const Request* r = request_of(handle);
  if (r == nullptr) return bad_handle(nullptr, function, MPI_ERR_REQUEST, "request", handle);
  const auto* comm = static_cast<const Comm*>(r->comm);
  if (!r->flags.persistent || r->flags.generalized) {
    return fail(comm, function, MPI_ERR_REQUEST, "request %d is not persistent: only those can be started", index);
  }
  if (r->flags.active) {
    return fail(comm, function, MPI_ERR_REQUEST, "request %d is already started; complete it first", index);
  }
  return MPI_SUCCESS;
}

int start_one(Request& r) {
  r.flags.active = true;
  r.flags.cancelled = false;
  r.error = MPI_SUCCESS;
  r.done = false;
  const int error = r.on_start(r);
  if (error != MPI_SUCCESS) r.flags.active = false;
  return error;
}

}  // namespace

int send_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request* request) {
  return describe_send("MPI_Send_init", buf, count, datatype, dest, tag, comm, Mode::standard, request);
}
int ssend_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                 MPI_Request* request) {
  return describe_send("MPI_Ssend_init", buf, count, datatype, dest, tag, comm, Mode::synchronous, request);
}
int rsend_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                 MPI_Request* request) {
  return describe_send("MPI_Rsend_init", buf, count, datatype, dest, tag, comm, Mode::ready, request);
}
int bsend_init_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                 MPI_Request* request) {
  return describe_send("MPI_Bsend_init", buf, count, datatype, dest, tag, comm, Mode::buffered, request);
}

int recv_init_c(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                MPI_Request* request) {
  if (int error = explain_receive("MPI_Recv_init", buf, count, datatype, source, tag, comm)) return error;
  return describe("MPI_Recv_init", core::Role::receive, buf, count, datatype, source, tag, comm, Mode::standard,
                  request);
}

int start(MPI_Request* request) {
  if (no_address(request)) return null_argument(nullptr, "MPI_Start", "request");
  if (int error = check_start("MPI_Start", *request, 0)) return error;
  return start_one(*request_of(*request));
}

int startall(int count, MPI_Request array_of_requests[]) {
  if (count < 0) return fail(nullptr, "MPI_Startall", MPI_ERR_COUNT, "the number of requests is %d", count);
  if (count > 0 && no_address(array_of_requests)) return null_argument(nullptr, "MPI_Startall", "array_of_requests");
  for (int i = 0; i < count; ++i) {
    if (int error = check_start("MPI_Startall", array_of_requests[i], i)) return error;
  }
  for (int i = 0; i < count; ++i) {
    if (int error = start_one(*request_of(array_of_requests[i]))) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
