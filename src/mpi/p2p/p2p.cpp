// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Blocking and nonblocking sends and receives (MPI-5.0, 3.2, 3.4, 3.7).
#include "mpi/p2p/p2p.hpp"

#include "core/message/send_now.hpp"
#include "core/progress/progress_thread_post.hpp"
#include "mpi/face.hpp"
#include "mpi/object/check.hpp"
#include "mpi/object/foreign.hpp"

namespace weft::mpi {

static_assert(core::any_source == MPI_ANY_SOURCE && core::any_tag == MPI_ANY_TAG && core::proc_null == MPI_PROC_NULL);
static_assert(core::no_error == MPI_SUCCESS && core::truncated == MPI_ERR_TRUNCATE &&
              core::other_error == MPI_ERR_OTHER && core::internal_error == MPI_ERR_INTERN &&
              core::no_memory == MPI_ERR_NO_MEM);

int no_memory(ErrorsOn on, const char* function) {
  return fail(on, function, MPI_ERR_NO_MEM, "no memory for a request; complete or free requests, or free memory");
}

int explain_data(const Comm* comm, const char* function, const void* buffer, MPI_Count count, MPI_Datatype datatype) {
  Check check(function, comm);
  int64_t bytes = 0;
  const Type* type = check.elements({buffer, count, datatype}, bytes);
  if (type != nullptr) check.buffer(buffer, bytes, *type);
  return check.error();
}

int explain_send(const char* function, const void* buffer, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm) {
  Check check(function, comm);
  check.rank(dest, "destination");
  check.tag(tag);
  if (check.failed() || (dest == MPI_PROC_NULL && count == 0)) return check.error();  // the type is not looked at
  return explain_data(&check.comm(), function, buffer, count, datatype);
}

int explain_receive(const char* function, const void* buffer, MPI_Count count, MPI_Datatype datatype, int source,
                    int tag, MPI_Comm comm) {
  Check check(function, comm);
  check.rank(source, "source", true);
  check.tag(tag, true);
  if (check.failed() || (source == MPI_PROC_NULL && count == 0)) return check.error();
  return explain_data(&check.comm(), function, buffer, count, datatype);
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

// A started request for a send whose arguments are good: any size, layout and mode. `tells`: data of a device that
// could not be copied, and will never arrive, are an error of this call. A program that waits for them learns it here.
template <Mode mode, bool blocking, bool tells = !blocking>
int start_isend(const void* buffer, MPI_Count count, Type& type, int dest, int tag, Comm& comm, MPI_Request* request) {
  Request* r = new_request({&comm, &type, count * type.size}, core::Role::send, buffer, count);
  if (r == nullptr) return no_memory(&comm, name_of_send(mode, blocking));
  r->mode = mode;
  r->flags.awaited = blocking;
  core::start_send(*r, comm.context, dest, tag);
  *request = handle_of<MPI_Request>(r);
  if (tells && r->flags.on_device && core::is_done(*r) && r->error != MPI_SUCCESS) [[unlikely]]
    return finish(name_of_send(mode, blocking), request, *r, MPI_STATUS_IGNORE);
  return MPI_SUCCESS;
}

// The general path of a nonblocking send, with arguments that may be wrong.
template <Mode mode, bool blocking = false, bool tells = !blocking>
[[gnu::noinline]] int isend_general(const void* buffer, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                                    MPI_Comm comm, MPI_Request* request) {
  static constexpr const char* function = name_of_send(mode, blocking);
  Operation op;
  const bool good = good_send(op, buffer, count, datatype, dest, tag, comm);
  if (!good) {
    if (int error = explain_send(function, buffer, count, datatype, dest, tag, comm)) return error;
  }
  if (no_address(request)) return null_argument(op.comm, function, "request");
  *request = done_request();
  if (!good) return MPI_SUCCESS;  // to MPI_PROC_NULL
  if (mode != Mode::synchronous && op.type->contiguous &&
      (op.comm->host_memory || !datatype::are_on_device(*op.type, count, buffer)) &&
      core::send_now(*op.comm, op.comm->context, buffer, op.bytes, dest, tag)) {
    return MPI_SUCCESS;
  }
  return start_isend<mode, blocking, tells>(buffer, count, *op.type, dest, tag, *op.comm, request);
}

template <Mode mode>
[[gnu::noinline]] int send_general(const void* buffer, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                                   MPI_Comm comm) {
  static constexpr const char* function = name_of_send(mode, true);
  MPI_Request request = MPI_REQUEST_NULL;
  if (int error = isend_general<mode, true>(buffer, count, datatype, dest, tag, comm, &request)) return error;
  Request& r = *request_of(request);
  wait_for(r, function);
  return finish(function, &request, r, MPI_STATUS_IGNORE);
}

// Whether the call has plain data and correct arguments: such a call has a fast path. The slow exits of the path are
// calls in tail position with the arguments as they came, so that no register is saved for them.
[[gnu::always_inline]] inline bool plain_send(Operation& op, const void* buffer, MPI_Count count, MPI_Datatype datatype,
                                              int dest, int tag, MPI_Comm comm) {
  return good_plain_data(op, buffer, count, datatype) && (op.comm = comm_of(comm)) != nullptr &&
         static_cast<uint32_t>(dest) < static_cast<uint32_t>(op.comm->size) && tag >= 0;
}

// A send of plain data of any size, whatever the threads and lanes. The arguments lie where those of MPI_Isend did, so
// that it is reached by a jump.
template <Mode mode>
[[gnu::noinline]] int isend_plain(const void* buffer, MPI_Count count, Type* type, int dest, int tag, Comm* comm,
                                  MPI_Request* request) {
  *request = done_request();
  if (core::send_now(*comm, comm->context, buffer, count * type->size, dest, tag)) return MPI_SUCCESS;
  return start_isend<mode, false>(buffer, count, *type, dest, tag, *comm, request);
}

// One that core::try_now() did not take.
template <Mode mode>
[[gnu::noinline]] int isend_wide(const void* buffer, int64_t bytes, core::Peer* peer, int dest, int tag, Comm* comm,
                                 MPI_Request* request) {
  const core::Tried tried = core::try_now_wide(*comm, *peer, buffer, bytes, tag);
  if (tried == core::Tried::not_sent) [[unlikely]]
    return isend_plain<mode>(buffer, bytes, &byte_type, dest, tag, comm, request);
  *request = done_request();
  return tried == core::Tried::sent ? MPI_SUCCESS : core::attend(*peer);
}

template <Mode mode>
[[gnu::always_inline]] inline int isend(const void* buffer, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                                        MPI_Comm comm, MPI_Request* request) {
  Operation op;
  if (mode == Mode::synchronous || no_address(request) || !plain_send(op, buffer, count, datatype, dest, tag, comm))
      [[unlikely]] {
    return isend_general<mode>(buffer, count, datatype, dest, tag, comm, request);
  }
  if (op.bytes > core::tiny_bytes) return isend_plain<mode>(buffer, count, op.type, dest, tag, op.comm, request);
  core::Peer& peer = core::known_peer(*op.comm, dest);
  const core::Tried tried = core::try_now(*op.comm, peer, buffer, op.bytes, tag);
  if (tried == core::Tried::not_sent) [[unlikely]]
    return isend_wide<mode>(buffer, op.bytes, &peer, dest, tag, op.comm, request);
  *request = done_request();
  return tried == core::Tried::sent ? MPI_SUCCESS : core::attend(peer);
}

// See FaceHooks::isend.
constexpr uintptr_t made_error(int error) {
  return static_cast<uintptr_t>(error) << 1 | 1;
}

[[gnu::noinline]] uintptr_t isend_made_general(const void* buffer, MPI_Count count, MPI_Datatype datatype, int dest,
                                               int tag, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int error = isend_general<Mode::standard>(buffer, count, datatype, dest, tag, comm, &request);
  return error != MPI_SUCCESS ? made_error(error) : reinterpret_cast<uintptr_t>(request);
}

// The blocking sends have the same steps: a plain one, a wide one, and the general path.
template <Mode mode>
[[gnu::noinline]] int send_plain(const void* buffer, int64_t bytes, int dest, int tag, MPI_Comm handle) {
  const Comm& comm = *comm_of(handle);
  if (core::send_now(comm, comm.context, buffer, bytes, dest, tag)) return MPI_SUCCESS;
  return send_general<mode>(buffer, bytes, MPI_BYTE, dest, tag, handle);
}

template <Mode mode>
[[gnu::noinline]] int send_wide(const void* buffer, int64_t bytes, core::Peer* peer, int dest, int tag,
                                MPI_Comm handle) {
  const core::Tried tried = core::try_now_wide(*comm_of(handle), *peer, buffer, bytes, tag);
  if (tried == core::Tried::not_sent) [[unlikely]]
    return send_plain<mode>(buffer, bytes, dest, tag, handle);
  return tried == core::Tried::sent ? MPI_SUCCESS : core::attend(*peer);
}

template <Mode mode>
[[gnu::always_inline]] inline int send(const void* buffer, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                                       MPI_Comm comm) {
  Operation op;
  if (mode == Mode::synchronous || !plain_send(op, buffer, count, datatype, dest, tag, comm)) [[unlikely]]
    return send_general<mode>(buffer, count, datatype, dest, tag, comm);
  if (op.bytes > core::tiny_bytes) return send_plain<mode>(buffer, op.bytes, dest, tag, comm);
  core::Peer& peer = core::known_peer(*op.comm, dest);
  const core::Tried tried = core::try_now(*op.comm, peer, buffer, op.bytes, tag);
  if (tried == core::Tried::not_sent) [[unlikely]]
    return send_wide<mode>(buffer, op.bytes, &peer, dest, tag, comm);
  return tried == core::Tried::sent ? MPI_SUCCESS : core::attend(peer);
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

int isend_within(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                 MPI_Request* request) {
  if (!device::on()) return isend<Mode::standard>(buf, count, datatype, dest, tag, comm, request);
  return isend_general<Mode::standard, false, false>(buf, count, datatype, dest, tag, comm, request);
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

// A plain receive, whatever the threads and the unexpected messages.
template <bool blocking>
[[gnu::noinline]] int irecv_plain(void* buf, int64_t bytes, int source, int tag, Comm* comm, MPI_Request* request) {
  Request* r = core::new_request(*comm, core::Role::receive);
  if (r == nullptr) return no_memory(comm, "MPI_Irecv");
  core::set_buffer(*r, buf, bytes, byte_type);
  r->flags.awaited = blocking;
  *request = handle_of<MPI_Request>(r);
  core::start_lane_receive(*r, comm->context, source, tag);
  return MPI_SUCCESS;
}

// One that core::try_post() or try_post_with_thread() did not take.
template <bool blocking, bool with_thread>
[[gnu::noinline]] int irecv_wide(void* buf, int64_t bytes, int source, int tag, Comm* comm, MPI_Request* request) {
  if constexpr (with_thread) core::did_not_post();
  Request* r = core::try_post_wide<false, blocking, with_thread>(*core::lanes, *comm, buf, bytes, source, tag);
  if (r == nullptr) [[unlikely]]
    return irecv_plain<blocking>(buf, bytes, source, tag, comm, request);
  *request = handle_of<MPI_Request>(r);
  return MPI_SUCCESS;
}

// The general path of a receive, with arguments that may be wrong.
template <bool blocking>
[[gnu::noinline]] int irecv_general(void* buffer, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                                    MPI_Comm comm, MPI_Request* request) {
  static constexpr const char* function = blocking ? "MPI_Recv" : "MPI_Irecv";
  Operation op;
  const bool good = good_receive(op, buffer, count, datatype, source, tag, comm);
  if (!good) {
    if (int error = explain_receive(function, buffer, count, datatype, source, tag, comm)) return error;
  }
  if (no_address(request)) return null_argument(op.comm, function, "request");
  *request = done_request();
  if (!good) return MPI_SUCCESS;  // from MPI_PROC_NULL
  Request* r = new_request(op, core::Role::receive, buffer, count);
  if (r == nullptr) return no_memory(op.comm, function);
  *request = handle_of<MPI_Request>(r);
  core::start_receive(*r, op.comm->context, source, tag);
  return MPI_SUCCESS;
}

// A plain receive with wildcards, or the general path for calls that irecv() does not take.
template <bool blocking>
[[gnu::noinline]] int irecv_wild(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                                 MPI_Request* request) {
  Operation op;
  if (good_plain_data(op, buf, count, datatype) && (op.comm = comm_of(comm)) != nullptr && !no_address(request) &&
      op.type->predefined &&
      (source == MPI_ANY_SOURCE || static_cast<uint32_t>(source) < static_cast<uint32_t>(op.comm->size)) &&
      (tag >= 0 || tag == MPI_ANY_TAG)) {
    if (Request* r = core::try_post_wild(*core::lanes, *op.comm, buf, op.bytes, source, tag)) {
      *request = handle_of<MPI_Request>(r);
      return MPI_SUCCESS;
    }
  }
  return irecv_general<blocking>(buf, count, datatype, source, tag, comm, request);
}

// `with_thread`: in a process with a progress thread.
template <bool blocking, bool with_thread>
[[gnu::always_inline]] inline int irecv(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                                        MPI_Comm comm, MPI_Request* request) {
  Operation op;
  if (!good_plain_data(op, buf, count, datatype) || (op.comm = comm_of(comm)) == nullptr ||
      static_cast<uint32_t>(source) >= static_cast<uint32_t>(op.comm->size) || tag < 0 || no_address(request) ||
      !op.type->predefined) [[unlikely]] {
    return irecv_wild<blocking>(buf, count, datatype, source, tag, comm, request);
  }
  Request* const r = with_thread ? core::try_post_with_thread(*core::lanes, *op.comm, buf, op.bytes, source, tag)
                                 : core::try_post(*core::lanes, *op.comm, buf, op.bytes, source, tag);
  if (r == nullptr) [[unlikely]]
    return irecv_wide<blocking, with_thread>(buf, op.bytes, source, tag, op.comm, request);
  *request = handle_of<MPI_Request>(r);
  return MPI_SUCCESS;
}

template <bool with_thread>
int recv(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (int error = irecv<true, with_thread>(buf, count, datatype, source, tag, comm, &request)) return error;
  Request& r = *request_of(request);
  wait_for(r, "MPI_Recv");
  return finish("MPI_Recv", &request, r, status);
}

int irecv_with_thread(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                      MPI_Request* request) {
  return irecv<false, true>(buf, count, datatype, source, tag, comm, request);
}

}  // namespace

int irecv_c(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
            MPI_Request* request) {
  return irecv<false, false>(buf, count, datatype, source, tag, comm, request);
}

int recv_c(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  return recv<false>(buf, count, datatype, source, tag, comm, status);
}

void choose_receives() {
  if (!core::posts_with_thread()) return;
  weft_calls.irecv_c = irecv_with_thread;
  weft_calls.recv_c = recv<true>;
}

uintptr_t isend_made(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  Operation op;
  if (!plain_send(op, buf, count, datatype, dest, tag, comm) || op.bytes > core::tiny_bytes) [[unlikely]]
    return isend_made_general(buf, count, datatype, dest, tag, comm);
  core::Peer& peer = core::known_peer(*op.comm, dest);
  const core::Tried tried = core::try_now(*op.comm, peer, buf, op.bytes, tag);
  if (tried == core::Tried::not_sent) [[unlikely]]
    return isend_made_general(buf, count, datatype, dest, tag, comm);
  if (tried != core::Tried::sent) [[unlikely]] {
    if (int error = core::attend(peer)) return made_error(error);
  }
  return reinterpret_cast<uintptr_t>(done_request());
}

}  // namespace weft::mpi
