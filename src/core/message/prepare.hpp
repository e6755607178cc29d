// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Requests before they start: core/protocol/p2p.hpp starts them.

#include <atomic>
#include <cstdint>

#include "core/object/comm.hpp"
#include "core/object/request.hpp"
#include "core/thread/thread.hpp"
#include "datatype/on_device.hpp"

namespace weft::core {

// A request with all fields at rest, from the cache of the calling thread; nullptr when there is no memory. prepare()
// is its second half.
[[gnu::always_inline]] inline Request* prepare(Request* r, Comm& comm, Role role) {
  std::atomic_ref(r->kind).store(base::Kind::request, std::memory_order_relaxed);
  r->done = false;
  r->role = role;
  r->mode = Mode::standard;
  r->flags = {.active = true};
  r->error = no_error;
  std::atomic_ref(r->comm).store(&comm, std::memory_order_relaxed);
  return r;
}
[[nodiscard]] inline Request* new_request(Comm& comm, Role role) {
  Request* r = this_thread().take_request();
  return r == nullptr ? nullptr : prepare(r, comm, role);
}

// Returns a request to the calling thread's cache. It must be done, or never started. A part that only some requests
// use is put to rest here, so that starting one costs no stores for it.
inline void free_request(Request* r) {
  r->on_done = nullptr;
  r->on_poll = nullptr;
  r->on_free = nullptr;
  r->on_start = nullptr;
  r->owner = nullptr;
  r->type = nullptr;
  this_thread().give_request(r);
}

// Describes the data of `count` elements in the request. Data on a device have a layout even without gaps, so
// that the processor leaves them alone.
inline void set_buffer(Request& r, void* buffer, int64_t count, Type& type) {
  r.buffer = buffer;
  r.bytes = count * type.size;
  r.count = count;
  r.layout = type.contiguous ? nullptr : &type;
  if (device::on()) [[unlikely]] {
    r.flags.on_device = !r.comm->host_memory && datatype::lie_on_device(type, count, buffer);
    if (r.flags.on_device) r.layout = &type;
  }
}

// The criteria that a receive is matched by. A stamp and a lane are for sends.
inline void wish(Request& r, uint32_t context, int32_t source, int32_t tag) {
  r.match.context = context;
  r.match.source = source;
  r.match.tag = tag;
}

}  // namespace weft::core
