// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Buffered sends, and the buffers of the process, of communicators and of sessions (MPI-5.0, 3.4 and 3.6).
#include "mpi/p2p/bsend.hpp"

#include <climits>
#include <mutex>
#include <new>

#include "core/message/completion.hpp"
#include "core/message/send_now.hpp"
#include "datatype/pack.hpp"
#include "mpi/object/check.hpp"
#include "mpi/p2p/p2p.hpp"

namespace weft::mpi {

namespace {

constinit BsendBuffer* process_buffer = nullptr;
constinit BsendBuffer* attached = nullptr;  // all of them

// The communicator's own buffer, else that of its session, else that of the process (MPI-5.0, 3.6). The caller holds
// the lock.
BsendBuffer* buffer_for(const Comm& comm) {
  if (comm.bsend != nullptr) return comm.bsend;
  const bool in_session = comm.session != nullptr && comm.session->kind == base::Kind::session;
  BsendBuffer* of_session = in_session ? static_cast<Session*>(comm.session)->bsend : nullptr;
  return of_session != nullptr ? of_session : process_buffer;
}

// Takes a buffer from its owner: no message enters it any more. The caller holds the lock.
void unhook(BsendBuffer* buffer) {
  BsendBuffer** at = &attached;
  while (*at != buffer) at = &(*at)->next;
  *at = buffer->next;
  *buffer->place = nullptr;
}

// The unused requests for waits of blocking functions; the lock guards them. None lies on a stack, and none is freed:
// the thread that has marked a request as done looks at it once more (core::wake_sleepers), when the thread that waited
// may have ended.
Request* idle_waits = nullptr;

// Waits until what is now in the buffer that `place` leads to, if to any, has left.
void wait_until_left(BsendBuffer* const& place) {
  Request* left = nullptr;
  bool empty = false;
  {
    std::lock_guard lock(bsend_lock);
    left = idle_waits != nullptr ? idle_waits : new Request;
    idle_waits = left->next;
    empty = place == nullptr || place->is_empty_or_notifies(*left);
  }
  if (!empty) core::wait(*left);
  std::lock_guard lock(bsend_lock);
  left->done = false;
  left->next = idle_waits;
  idle_waits = left;
}

// Ends a buffer that was taken from its owner, when its messages have left.
void end(BsendBuffer* buffer) {
  wait_until_left(buffer);
  delete buffer;
}

// Ends the buffer that a pointer leads to; false: it leads to none.
bool end_if_any(BsendBuffer* const& which) {
  BsendBuffer* buffer = nullptr;
  {
    std::lock_guard lock(bsend_lock);
    buffer = which;
    if (buffer == nullptr) return false;
    unhook(buffer);
  }
  end(buffer);
  return true;
}

bool leave_buffer(Request& r) {
  auto* entry = static_cast<BsendEntry*>(r.owner);
  core::free_request(&r);
  BsendBuffer::finished(entry);
  return false;
}

// An entry in the buffer that serves the communicator; without one, the state of the buffer, for the error's text.
struct BsendSpace {
  BsendEntry* entry = nullptr;
  bool attached = false;
  bool automatic = false;
  int64_t size = 0;
  int64_t overhead = 0;
};

BsendSpace find_room(const Comm& comm, int64_t bytes) {
  std::lock_guard lock(bsend_lock);
  BsendBuffer* buffer = buffer_for(comm);
  if (buffer == nullptr) return {};
  return {buffer->append(bytes), true, buffer->automatic(), buffer->size, buffer->overhead};
}

[[gnu::cold, gnu::noinline]] int no_room(const Comm& comm, const char* function, const BsendSpace& room,
                                         int64_t bytes) {
  const auto size = static_cast<long long>(bytes);
  if (!room.attached) {
    return fail(&comm, function, MPI_ERR_BUFFER,
                "no buffer is attached for a message of %lld bytes: call MPI_Buffer_attach", size);
  }
  if (room.automatic) return fail(&comm, function, MPI_ERR_BUFFER, "no memory for a message of %lld bytes", size);
  return fail(&comm, function, MPI_ERR_BUFFER,
              "no space for a message of %lld bytes and MPI_BSEND_OVERHEAD (%lld) in the attached buffer of %lld "
              "bytes: attach a larger one, or MPI_BUFFER_AUTOMATIC",
              size, static_cast<long long>(room.overhead), static_cast<long long>(room.size));
}

int attach(const Comm* comm, const char* function, BsendBuffer*& place, void* memory, MPI_Count size,
           int64_t overhead) {
  const bool automatic = memory == MPI_BUFFER_AUTOMATIC;
  if (!automatic && size < 0) return negative(comm, function, MPI_ERR_ARG, "size", size);
  if (memory == nullptr && size > 0) {
    return fail(comm, function, MPI_ERR_BUFFER, "the buffer is a null pointer, for %lld bytes",
                static_cast<long long>(size));
  }
  auto* buffer = new (std::nothrow) BsendBuffer(&place, memory, automatic ? 0 : size, overhead);
  if (buffer == nullptr) return no_memory(comm, function, "the buffer's description");
  if (!automatic && device::owns(memory)) {
    buffer->given = memory;
    buffer->stand_in.reset(new (std::nothrow) char[static_cast<size_t>(size)]);
    buffer->memory = buffer->stand_in.get();
    if (buffer->memory == nullptr) {
      delete buffer;
      return no_memory(comm, function, "the memory that stands for a buffer on a device");
    }
  }
  {
    std::lock_guard lock(bsend_lock);
    if (place == nullptr) {
      buffer->next = attached;
      attached = place = buffer;
      return MPI_SUCCESS;
    }
  }
  delete buffer;
  return fail(comm, function, MPI_ERR_BUFFER, "a buffer is attached already: detach it first");
}

// Size is an int or MPI_Count. Without a buffer the call gives what a later attach takes back: nothing.
template <class Size>
int detach(const Comm* comm, const char* function, BsendBuffer*& place, void* address, Size* size) {
  if (no_address(address)) return null_argument(comm, function, "buffer_addr");
  if (no_address(size)) return null_argument(comm, function, "size");
  void* memory = nullptr;
  int64_t bytes = 0;
  BsendBuffer* buffer = nullptr;
  {
    std::lock_guard lock(bsend_lock);
    buffer = place;
    if (buffer != nullptr) {
      memory = buffer->given != nullptr ? buffer->given : buffer->memory;
      bytes = buffer->size;
      if (static_cast<Size>(bytes) == bytes) unhook(buffer);
    }
  }
  if (static_cast<Size>(bytes) != bytes) {
    return fail(comm, function, MPI_ERR_VALUE_TOO_LARGE,
                "the buffer has %lld bytes, which an int does not hold: call the _c form of this function",
                static_cast<long long>(bytes));
  }
  if (buffer != nullptr) end(buffer);
  *static_cast<void**>(address) = memory;
  *size = static_cast<Size>(bytes);
  return MPI_SUCCESS;
}

// Whether nothing is in the buffer, if there is one; otherwise completes the request when what is in it now has left.
bool is_empty_or_notifies(BsendBuffer* const& place, Request& request) {
  std::lock_guard lock(bsend_lock);
  return place == nullptr || place->is_empty_or_notifies(request);
}

int flush(BsendBuffer* const& place) {
  wait_until_left(place);
  return MPI_SUCCESS;
}

int iflush(Comm& comm, const char* function, BsendBuffer* const& place, MPI_Request* request) {
  if (no_address(request)) return null_argument(&comm, function, "request");
  Request* r = core::new_request(comm, core::Role::composite);
  if (r == nullptr) return no_memory(&comm, function);
  r->source = MPI_ANY_SOURCE;
  r->tag = MPI_ANY_TAG;
  r->received = 0;
  *request = handle_of<MPI_Request>(r);
  if (is_empty_or_notifies(place, *r)) core::complete(*r);
  return MPI_SUCCESS;
}

int ibsend(const char* function, const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
           MPI_Comm comm) {
  Operation op;
  if (!good_send(op, buf, count, datatype, dest, tag, comm)) {
    return explain_send(function, buf, count, datatype, dest, tag, comm);
  }
  return buffered_send(*op.comm, buf, count, *op.type, dest, tag, function);
}

// The communicator that a call without one reports to; nullptr, with the error raised, when MPI is not running.
Comm* self_of(const char* function, int* error) {
  Comm* self = comm_of(MPI_COMM_SELF);
  if (self == nullptr) *error = bad_comm(function, MPI_COMM_SELF);
  return self;
}

int bad_session(const char* function, MPI_Session session) {
  return bad_handle(nullptr, function, MPI_ERR_SESSION, "session", session);
}

}  // namespace

int buffered_send(Comm& comm, const void* data, MPI_Count count, Type& type, int dest, int tag, const char* function) {
  const int64_t bytes = count * type.size;
  BsendSpace room = find_room(comm, bytes);
  if (room.entry == nullptr && room.attached && !room.automatic) {  // messages may have left unnoticed
    (void)core::progress();
    room = find_room(comm, bytes);
  }
  if (room.entry == nullptr) return no_room(comm, function, room, bytes);
  BsendEntry* entry = room.entry;
  const bool on_device = !comm.host_memory && datatype::are_on_device(type, count, data);
  if (type.contiguous && !on_device && core::send_now(comm, comm.context, data, bytes, dest, tag)) {
    BsendBuffer::finished(entry);
    return MPI_SUCCESS;
  }
  Request* r = core::new_request(comm, core::Role::send);
  if (r == nullptr) {
    BsendBuffer::finished(entry);
    return no_memory(&comm, function);
  }
  datatype::packing(on_device)(type, count, data, 0, entry->data(), bytes);
  if (device::take_failure()) {
    release(*r);
    BsendBuffer::finished(entry);
    return device_failed(&comm, function, device::last_problem());
  }
  core::set_buffer(*r, entry->data(), bytes, *type_of(MPI_BYTE));
  r->owner = entry;
  r->on_done = leave_buffer;
  core::start_send(*r, comm.context, dest, tag);
  return MPI_SUCCESS;
}

void end_buffer(BsendBuffer*& place) {
  (void)end_if_any(place);
}

void flush_all_buffers() {
  while (end_if_any(attached)) {
  }
}

int bsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return ibsend("MPI_Bsend", buf, count, datatype, dest, tag, comm);
}

int ibsend_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
             MPI_Request* request) {
  if (no_address(request)) return null_argument(comm_of(comm), "MPI_Ibsend", "request");
  int error = ibsend("MPI_Ibsend", buf, count, datatype, dest, tag, comm);
  if (error == MPI_SUCCESS) *request = done_request();
  return error;
}

int attach_buffer(void* buffer, MPI_Count size, int64_t overhead) {
  return attach(nullptr, "MPI_Buffer_attach", process_buffer, buffer, size, overhead);
}

int attach_buffer(MPI_Comm comm, void* buffer, MPI_Count size, int64_t overhead) {
  Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm("MPI_Comm_attach_buffer", comm);
  return attach(c, "MPI_Comm_attach_buffer", c->bsend, buffer, size, overhead);
}

int attach_buffer(MPI_Session session, void* buffer, MPI_Count size, int64_t overhead) {
  Session* s = session_of(session);
  if (s == nullptr) return bad_session("MPI_Session_attach_buffer", session);
  return attach(nullptr, "MPI_Session_attach_buffer", s->bsend, buffer, size, overhead);
}

int buffer_attach_c(void* buffer, MPI_Count size) {
  return attach_buffer(buffer, size, MPI_BSEND_OVERHEAD);
}

int buffer_detach(void* buffer_addr, int* size) {
  return detach(nullptr, "MPI_Buffer_detach", process_buffer, buffer_addr, size);
}

int buffer_detach_c(void* buffer_addr, MPI_Count* size) {
  return detach(nullptr, "MPI_Buffer_detach_c", process_buffer, buffer_addr, size);
}

int buffer_flush() {
  return flush(process_buffer);
}

int buffer_iflush(MPI_Request* request) {
  int error = MPI_SUCCESS;
  Comm* self = self_of("MPI_Buffer_iflush", &error);
  return self == nullptr ? error : iflush(*self, "MPI_Buffer_iflush", process_buffer, request);
}

int comm_attach_buffer_c(MPI_Comm comm, void* buffer, MPI_Count size) {
  return attach_buffer(comm, buffer, size, MPI_BSEND_OVERHEAD);
}

int comm_detach_buffer(MPI_Comm comm, void* buffer_addr, int* size) {
  Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm("MPI_Comm_detach_buffer", comm);
  return detach(c, "MPI_Comm_detach_buffer", c->bsend, buffer_addr, size);
}

int comm_detach_buffer_c(MPI_Comm comm, void* buffer_addr, MPI_Count* size) {
  Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm("MPI_Comm_detach_buffer_c", comm);
  return detach(c, "MPI_Comm_detach_buffer_c", c->bsend, buffer_addr, size);
}

int comm_flush_buffer(MPI_Comm comm) {
  Comm* c = comm_of(comm);
  return c == nullptr ? bad_comm("MPI_Comm_flush_buffer", comm) : flush(c->bsend);
}

int comm_iflush_buffer(MPI_Comm comm, MPI_Request* request) {
  Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm("MPI_Comm_iflush_buffer", comm);
  return iflush(*c, "MPI_Comm_iflush_buffer", c->bsend, request);
}

int session_attach_buffer_c(MPI_Session session, void* buffer, MPI_Count size) {
  return attach_buffer(session, buffer, size, MPI_BSEND_OVERHEAD);
}

int session_detach_buffer(MPI_Session session, void* buffer_addr, int* size) {
  Session* s = session_of(session);
  if (s == nullptr) return bad_session("MPI_Session_detach_buffer", session);
  return detach(nullptr, "MPI_Session_detach_buffer", s->bsend, buffer_addr, size);
}

int session_detach_buffer_c(MPI_Session session, void* buffer_addr, MPI_Count* size) {
  Session* s = session_of(session);
  if (s == nullptr) return bad_session("MPI_Session_detach_buffer_c", session);
  return detach(nullptr, "MPI_Session_detach_buffer_c", s->bsend, buffer_addr, size);
}

int session_flush_buffer(MPI_Session session) {
  Session* s = session_of(session);
  return s == nullptr ? bad_session("MPI_Session_flush_buffer", session) : flush(s->bsend);
}

int session_iflush_buffer(MPI_Session session, MPI_Request* request) {
  Session* s = session_of(session);
  if (s == nullptr) return bad_session("MPI_Session_iflush_buffer", session);
  int error = MPI_SUCCESS;
  Comm* self = self_of("MPI_Session_iflush_buffer", &error);
  return self == nullptr ? error : iflush(*self, "MPI_Session_iflush_buffer", s->bsend, request);
}

}  // namespace weft::mpi
