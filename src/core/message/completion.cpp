// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/message/completion.hpp"

#include <cstring>

#include "base/copy.hpp"
#include "core/lane/lane.hpp"

namespace weft::core {

void store(Request& r, int64_t position, const void* data, int64_t bytes) {
  const int64_t room = r.bytes - position;
  if (bytes > room) [[unlikely]]
    bytes = room > 0 ? room : 0;
  if (r.layout != nullptr) [[unlikely]] {
    unpack_data(r, position, data, bytes);
    note_failed_copy(r);
  } else if (bytes != 0) {
    base::copy(static_cast<char*>(r.buffer) + position, data, static_cast<size_t>(bytes));
  }
}

void store_staged(Request& r, int64_t position, transport::Endpoint& from, uint64_t handle, const void* staged,
                  int64_t bytes) {
  if (r.layout == nullptr && bytes <= r.bytes - position) [[likely]]
    return from.take_staging(handle, staged, static_cast<char*>(r.buffer) + position, static_cast<size_t>(bytes));
  store(r, position, staged, bytes);
  from.release_staging(handle, static_cast<size_t>(bytes));
}

void complete_send(Request& r, Path path) {
  PathCount& sent = this_thread().sent[static_cast<int>(path)];
  count(sent.messages);
  count(sent.bytes, static_cast<uint64_t>(r.bytes));
  lanes->all[r.lane].count_sends(-1);
  complete(r);
}

void complete_cancelled(Request& r) {
  r.flags.cancelled = true;
  complete(r);
}

void complete_later(Request& r) {
  Thread& me = this_thread();
  r.next = me.ended;
  me.ended = &r;
  if (me.lanes_held == 0) me.run_ended();
}

void end(Request& r) {
  if (r.on_done(r)) {
    mark_done(r);
  } else {
    tell_sleepers(nullptr);
  }
}

FollowUpLater::FollowUpLater() : me_(this_thread()) {
  ++me_.lanes_held;
}

FollowUpLater::~FollowUpLater() {
  if (--me_.lanes_held == 0) me_.run_ended();
}

}  // namespace weft::core
