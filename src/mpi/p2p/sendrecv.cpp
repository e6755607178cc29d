// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Send-receive in all forms (MPI-5.0, 3.10): a receive and a send started together.
#include <cstring>
#include <memory>
#include <new>

#include "core/message/completion.hpp"
#include "datatype/pack.hpp"
#include "mpi/object/overlap.hpp"
#include "mpi/p2p/p2p.hpp"

namespace weft::mpi {

namespace {

// A nonblocking send-receive under one handle: done when both are, with the receive's status.
struct Pair {
  MPI_Request send = MPI_REQUEST_NULL;
  MPI_Request receive = MPI_REQUEST_NULL;
  std::unique_ptr<char[]> copy;  // of the data to send, for the replacing form
};

// A send whose data a device could not copy never leaves: the receive may wait for that very message.
void take_back_if_broken(const Request& send, Request& receive) {
  if (send.flags.on_device && send.error == MPI_ERR_OTHER && core::is_done(send)) [[unlikely]]
    core::cancel(receive);
}

void poll_pair(Request& r) {
  auto& pair = *static_cast<Pair*>(r.owner);
  Request& send = *request_of(pair.send);
  Request& receive = *request_of(pair.receive);
  take_back_if_broken(send, receive);
  if (!core::is_done(send) || !core::is_done(receive)) return;
  r.source = receive.source;
  r.tag = receive.tag;
  r.received = receive.received;
  r.bytes = receive.bytes;
  r.limit = receive.limit;
  r.error = receive.error != MPI_SUCCESS ? receive.error : send.error;
  core::complete(r);
}

void free_pair(Request& r) {
  auto* pair = static_cast<Pair*>(r.owner);
  for (MPI_Request* part : {&pair->send, &pair->receive}) {
    if (*part != MPI_REQUEST_NULL) (void)retire(part, *request_of(*part), MPI_STATUS_IGNORE);
  }
  delete pair;
}

// Arguments of one direction.
struct DirectionArguments {
  const void* buffer;
  MPI_Count count;
  MPI_Datatype datatype;
  int partner;
  int tag;
};

// The error of buffers that overlap.
[[gnu::noinline]] int compare(const char* function, const DirectionArguments& out, const Type& sent,
                              const DirectionArguments& in, const Type& received, const Comm* comm) {
  const Filled from = filled(out.buffer, out.count, sent), to = filled(in.buffer, in.count, received);
  if (!overlap(from, to)) return MPI_SUCCESS;
  return fail(comm, function, MPI_ERR_BUFFER, "%s: give each its own memory, or call MPI_Sendrecv_replace",
              overlap_text("sendbuf", from, "recvbuf", to).c_str());
}

[[gnu::cold, gnu::noinline]] int explain(const char* function, const DirectionArguments& out,
                                         const DirectionArguments& in, MPI_Comm comm) {
  Operation op;
  if (!good_send(op, out.buffer, out.count, out.datatype, out.partner, out.tag, comm)) {
    if (int error = explain_send(function, out.buffer, out.count, out.datatype, out.partner, out.tag, comm))
      return error;
  }
  if (!good_receive(op, in.buffer, in.count, in.datatype, in.partner, in.tag, comm)) {
    if (int error = explain_receive(function, in.buffer, in.count, in.datatype, in.partner, in.tag, comm)) return error;
  }
  return MPI_SUCCESS;
}

// `apart`: the two buffers must not overlap.
template <bool apart>
int check(const char* function, const DirectionArguments& out, const DirectionArguments& in, MPI_Comm comm) {
  Operation sent, received;
  if (!good_send(sent, out.buffer, out.count, out.datatype, out.partner, out.tag, comm) ||
      !good_receive_on(sent.comm, received, in.buffer, in.count, in.datatype, in.partner, in.tag)) [[unlikely]]
    return explain(function, out, in, comm);
  if constexpr (apart) {
    const auto from = static_cast<uint64_t>(sent.bytes), to = static_cast<uint64_t>(received.bytes);
    if (!(sent.type->contiguous & received.type->contiguous) || may_overlap(out.buffer, from, in.buffer, to))
        [[unlikely]]
      return compare(function, out, *sent.type, in, *received.type, sent.comm);
  }
  return MPI_SUCCESS;
}

// Starts both directions of checked arguments.
int start_both(const DirectionArguments& out, const DirectionArguments& in, MPI_Comm comm, MPI_Request* send,
               MPI_Request* receive) {
  if (int error = irecv_c(const_cast<void*>(in.buffer), in.count, in.datatype, in.partner, in.tag, comm, receive)) {
    return error;
  }
  return isend_within(out.buffer, out.count, out.datatype, out.partner, out.tag, comm, send);
}

int both(const char* function, const DirectionArguments& out, const DirectionArguments& in, MPI_Comm comm,
         MPI_Status* status) {
  MPI_Request send = MPI_REQUEST_NULL;
  MPI_Request receive = MPI_REQUEST_NULL;
  if (int error = start_both(out, in, comm, &send, &receive)) return error;
  wait_for(*request_of(send), function);
  take_back_if_broken(*request_of(send), *request_of(receive));
  wait_for(*request_of(receive), function);
  if (request_of(send)->error != MPI_SUCCESS) [[unlikely]] {
    const Failure sending = failure_of(*request_of(send));
    (void)retire(&send, *request_of(send), MPI_STATUS_IGNORE);
    if (int error = finish(function, &receive, *request_of(receive), status)) return error;
    return fail_completed(function, sending);
  }
  (void)retire(&send, *request_of(send), MPI_STATUS_IGNORE);
  return finish(function, &receive, *request_of(receive), status);
}

int both_later(const char* function, const DirectionArguments& out, const DirectionArguments& in, MPI_Comm comm,
               std::unique_ptr<char[]> copy, MPI_Request* request) {
  Comm* c = comm_of(comm);
  Request* r = core::new_request(*c, core::Role::composite);
  auto* pair = new (std::nothrow) Pair;
  if (r == nullptr || pair == nullptr) {
    delete pair;
    return no_memory(c, function);
  }
  pair->copy = std::move(copy);
  r->owner = pair;
  r->on_poll = poll_pair;
  r->on_free = free_pair;
  if (int error = start_both(out, in, comm, &pair->send, &pair->receive)) return error;
  *request = handle_of<MPI_Request>(r);
  return MPI_SUCCESS;
}

// The data of a replacing form, packed; MPI_PACKED bytes from there on.
int copy_out(const char* function, DirectionArguments& out, MPI_Comm comm, std::unique_ptr<char[]>& copy) {
  if (out.partner == MPI_PROC_NULL) return MPI_SUCCESS;  // and the datatype may be none
  const Type& type = *type_of(out.datatype);
  const int64_t bytes = out.count * type.size;
  copy.reset(new (std::nothrow) char[static_cast<size_t>(bytes) + 1]);
  if (copy == nullptr) return no_memory(comm_of(comm), function);
  datatype::packing(!comm_of(comm)->host_memory)(type, out.count, out.buffer, 0, copy.get(), bytes);
  if (device::take_failure()) return device_failed(comm_of(comm), function, device::last_problem());
  out = {copy.get(), bytes, MPI_PACKED, out.partner, out.tag};
  return MPI_SUCCESS;
}

}  // namespace

int sendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
               MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  const DirectionArguments out{sendbuf, sendcount, sendtype, dest, sendtag};
  const DirectionArguments in{recvbuf, recvcount, recvtype, source, recvtag};
  if (int error = check<true>("MPI_Sendrecv", out, in, comm)) return error;
  return both("MPI_Sendrecv", out, in, comm, status);
}

int sendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source,
                       int recvtag, MPI_Comm comm, MPI_Status* status) {
  DirectionArguments out{buf, count, datatype, dest, sendtag};
  const DirectionArguments in{buf, count, datatype, source, recvtag};
  std::unique_ptr<char[]> copy;
  if (int error = check<false>("MPI_Sendrecv_replace", out, in, comm)) return error;
  if (int error = copy_out("MPI_Sendrecv_replace", out, comm, copy)) return error;
  return both("MPI_Sendrecv_replace", out, in, comm, status);
}

int isendrecv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
                MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                MPI_Request* request) {
  const DirectionArguments out{sendbuf, sendcount, sendtype, dest, sendtag};
  const DirectionArguments in{recvbuf, recvcount, recvtype, source, recvtag};
  if (int error = check<true>("MPI_Isendrecv", out, in, comm)) return error;
  if (no_address(request)) return null_argument(comm_of(comm), "MPI_Isendrecv", "request");
  return both_later("MPI_Isendrecv", out, in, comm, nullptr, request);
}

int isendrecv_replace_c(void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source,
                        int recvtag, MPI_Comm comm, MPI_Request* request) {
  DirectionArguments out{buf, count, datatype, dest, sendtag};
  const DirectionArguments in{buf, count, datatype, source, recvtag};
  std::unique_ptr<char[]> copy;
  if (int error = check<false>("MPI_Isendrecv_replace", out, in, comm)) return error;
  if (no_address(request)) return null_argument(comm_of(comm), "MPI_Isendrecv_replace", "request");
  if (int error = copy_out("MPI_Isendrecv_replace", out, comm, copy)) return error;
  return both_later("MPI_Isendrecv_replace", out, in, comm, std::move(copy), request);
}

}  // namespace weft::mpi
