// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Point-to-point operations on core's objects: what src/mpi and src/coll call. Arguments are checked by the caller.

#include "core/comm.hpp"
#include "core/progress.hpp"
#include "core/world.hpp"

namespace weft::core {

// What a completed receive or a probe tells.
struct Outcome {
  int32_t source = proc_null;
  int32_t tag = any_tag;
  int32_t error = no_error;
  int64_t bytes = 0;
  bool cancelled = false;
};

// A request from the lane's pool with all fields at rest; nullptr when there is no memory.
[[nodiscard]] inline Request* new_request(Comm& comm, Role role) {
  Request* r = world.lane.take_request();
  if (r == nullptr) [[unlikely]]
    return nullptr;
  r->kind = base::Kind::request;
  r->done = false;
  r->role = role;
  r->mode = Mode::standard;
  r->flags = {.active = true};
  r->error = no_error;
  r->comm = &comm;
  return r;
}

// Returns a request to the pool. It must be done, or never started. What only some requests use is put to rest here, so
// that starting one costs no stores for it.
inline void free_request(Request* r) {
  r->on_done = nullptr;
  r->on_poll = nullptr;
  r->on_free = nullptr;
  r->on_start = nullptr;
  r->owner = nullptr;
  r->type = nullptr;
  world.lane.give_request(r);
}

// Describes the data of `count` elements in the request.
inline void set_buffer(Request& r, void* buffer, int64_t count, Type& type) {
  r.buffer = buffer;
  r.bytes = count * type.size;
  r.count = count;
  r.layout = type.contiguous ? nullptr : &type;
}

// Starts a described send to rank `dest` of the request's communicator in `context`: by whatever path its size and the
// peer's state ask for. The request is done at once when the data left or was copied.
void start_send(Request& r, uint32_t context, int32_t dest, int32_t tag);

// Matches a described receive with a message that came before, or posts it.
void receive_unexpected_or_post(Request& r);

// Starts a described receive.
inline void start_receive(Request& r, uint32_t context, int32_t source, int32_t tag) {
  r.match = {context, source, tag, 0};
  if (world.lane.matcher.anything_unexpected()) [[unlikely]]
    return receive_unexpected_or_post(r);
  world.lane.matcher.post(r);
}

// send_now() in core/send_now.hpp is the short way of a small contiguous message; false when it must go this general
// way.

// Blocking forms, used by collective operations. They return an error class.
int32_t send(Comm& comm, uint32_t context, const void* buffer, int64_t count, Type& type, int32_t dest, int32_t tag);
int32_t receive(Comm& comm, uint32_t context, void* buffer, int64_t count, Type& type, int32_t source, int32_t tag,
                Outcome* outcome = nullptr);
int32_t send_receive(Comm& comm, uint32_t context, const void* send_buffer, int64_t send_count, Type& send_type,
                     int32_t dest, void* receive_buffer, int64_t receive_count, Type& receive_type, int32_t source,
                     int32_t tag);

// Takes a started operation back if it can still be. Sends that left are not recalled.
void cancel(Request& r);

// Looks for a message without receiving it.
[[nodiscard]] bool probe(uint32_t context, int32_t source, int32_t tag, Outcome* outcome);

// Takes a message out of matching; nullptr when there is none. receive_matched() receives it later.
[[nodiscard]] Unexpected* take_message(uint32_t context, int32_t source, int32_t tag, Outcome* outcome);
void receive_matched(Request& r, Unexpected* message);

// Whether a request that is not yet freed belongs to this communicator.
[[nodiscard]] bool in_use(const Comm& comm);

}  // namespace weft::core
