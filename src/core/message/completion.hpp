// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// How the paths end an operation: the data of a receive are stored, its status is set, the request is complete.

#include "core/object/request.hpp"
#include "core/thread/thread.hpp"
#include "core/thread/waits.hpp"
#include "datatype/pack.hpp"
#include "device/api/device.hpp"

namespace weft::core {

inline void mark_done(Request& request) {
  // Stored last: from here on the request is its owner's. Pairs with the acquire load of is_done().
  std::atomic_ref(request.done).store(true, std::memory_order_release);
  tell_sleepers(&request);
}

// Marks the request complete. The last thing that happens to it on the side of the protocols.
inline void complete(Request& request) {
  if (request.on_done != nullptr) [[unlikely]]
    return complete_later(request);
  mark_done(request);
}

// The data of a request with a layout, from or to the host's memory.
inline void pack_data(const Request& r, int64_t position, void* out, int64_t bytes) {
  datatype::packing(r.flags.on_device)(*r.layout, r.count, r.buffer, position, out, bytes);
}
inline void unpack_data(const Request& r, int64_t position, const void* in, int64_t bytes) {
  datatype::unpacking(r.flags.on_device)(*r.layout, r.count, r.buffer, position, in, bytes);
}

// Copies `data` to [position, position + bytes) of the receive's data; bytes beyond its buffer are dropped.
void store(Request& r, int64_t position, const void* data, int64_t bytes);

// Stores staged data of a peer, whose buffer goes back to it.
void store_staged(Request& r, int64_t position, transport::Endpoint& from, uint64_t handle, const void* staged,
                  int64_t bytes);

// After a copy of its data: if it was one of a device and failed, so has the request. Whether it has.
inline bool note_failed_copy(Request& r) {
  if (!device::on() || !device::take_failure()) [[likely]]
    return false;
  r.error = other_error;
  return true;
}

// Sets the status of a receive and completes it. The data is in place.
inline void finish_receive(Request& r, const Envelope& envelope, int64_t message_bytes) {
  r.source = envelope.source;
  r.tag = envelope.tag;
  r.received = message_bytes;
  if (message_bytes > r.bytes) [[unlikely]] {
    r.received = r.bytes;
    r.limit = message_bytes;
    r.error = truncated;
  }
  complete(r);
}

// Both, for a message that is here as a whole.
inline void deliver(Request& r, const Envelope& envelope, const void* data, int64_t bytes) {
  store(r, 0, data, bytes);
  finish_receive(r, envelope, bytes);
}

// Counts a send by its path and completes it. Its home lane is held.
void complete_send(Request& r, Path path);

// Completes a request that was taken back.
void complete_cancelled(Request& r);

// Completions wait while this stands, as they do while a lane is held: for code that holds the queues.
class FollowUpLater {
 public:
  FollowUpLater();
  ~FollowUpLater();
  FollowUpLater(const FollowUpLater&) = delete;
  FollowUpLater& operator=(const FollowUpLater&) = delete;

 private:
  Thread& me_;
};

}  // namespace weft::core
