// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// E0: envelope and data in the receiver's mailbox, in one piece. One copy here, one there.
//
//   eager       sender to receiver: the data
//   eager_sync  the same of a synchronous send: Sync, then the data
//   fin         receiver to sender: the synchronous send was matched (r0_get.cpp takes it)
//
// Small messages to ranks of this host do not pass here when they leave: see core/message/send_now.hpp.
#include <cstring>

#include "base/copy.hpp"
#include "base/setting.hpp"
#include "core/lane/lane.hpp"
#include "core/object/settings.hpp"
#include "core/peer/peer.hpp"
#include "core/protocol/protocol.hpp"
#include "datatype/pack.hpp"

namespace weft::core {

const PathInfo mailbox_info = {"E0 mailbox", "envelope and data in the receiver's ring", "two copies, no handshake"};

namespace {

constinit base::IntSetting mailbox_limit{
    {.name = "WEFT_MAILBOX_LIMIT",
     .help = "largest message sent whole into the receiver's ring (E0); 0: by job size",
     .unit = base::Unit::bytes,
     .level = base::SettingLevel::basic,
     .subject = base::Subject::messages,
     .change = base::Change::before_start},
    0,
    {0, transport::mailbox_limit(1)}};
WEFT_SETTING(mailbox_limit);

}  // namespace

int64_t mailbox_bytes(int64_t ranks) {
  return mailbox_limit.value() != 0 ? mailbox_limit.value() : transport::mailbox_limit(ranks);
}

bool send_mailbox(Request& r) {
  alignas(64) unsigned char staged[transport::mailbox_limit(1) + sizeof(wire::Sync)];
  const void* data = r.buffer;
  auto bytes = static_cast<uint32_t>(r.bytes);
  uint8_t kind = wire::eager;
  if (r.mode == Mode::synchronous || r.layout != nullptr) {
    unsigned char* end = staged;
    if (r.mode == Mode::synchronous) {
      const wire::Sync sync{give_number(r), r.peer->our_rank, r.lane};
      __builtin_memcpy(end, &sync, sizeof sync);
      end += sizeof sync;
      kind = wire::eager_sync;
    }
    if (r.layout != nullptr) {
      pack_data(r, 0, end, r.bytes);
      if (note_failed_copy(r)) {
        take_number(r);
        if (!try_unsent(r)) return false;
        complete_send(r, Path::mailbox);
        return true;
      }
    } else if (bytes != 0) {
      base::copy(end, r.buffer, bytes);
    }
    bytes += static_cast<uint32_t>(end - staged);
    data = staged;
  }
  if (r.peer->endpoint->send(kind, r.match, data, bytes) != transport::Post::done) return false;
  // A synchronous send is complete when the receiver says that it was matched.
  if (kind == wire::eager) complete_send(r, Path::mailbox);
  return true;
}

// ---- receiving

namespace {

[[gnu::always_inline]] inline void take_eager(Lane& lane, const transport::Arrival& a) {
  Request* r = lane.matcher.take_receive(a.envelope, lanes->any_tags);
  if (r == nullptr) [[unlikely]]
    return keep(a.envelope, wire::eager, a.data, a.bytes, a.bytes);
  if (a.bytes == 8 && r->bytes >= 8 && r->layout == nullptr) [[likely]] {
    __builtin_memcpy(r->buffer, a.data, 8);
  } else {
    store(*r, 0, a.data, a.bytes);
  }
  finish_receive(*r, a.envelope, a.bytes);
}

void on_eager(const transport::Arrival& a) {
  take_eager(lane_of(a), a);
}

// Also of messages by other paths whose data have come as a whole.
bool consume_eager(Request& r, Unexpected& message) {
  deliver(r, message.envelope, message.data(), message.message_bytes);
  return false;
}

constinit const Handler eager_handler{
    .kind = wire::eager, .least_bytes = 0, .name = "E0", .take = on_eager, .consume = consume_eager};
WEFT_HANDLER(eager_handler);

// Its sender was looked at when it came.
void answer_sync(const wire::Sync& sync) {
  send_fin(peers->of(sync.origin), sync.lane, sync.send);
}

void on_eager_sync(const transport::Arrival& a) {
  const auto sync = payload_of<wire::Sync>(a);
  (void)sender_of(a, sync.origin, sync.lane);
  const int64_t bytes = a.bytes - static_cast<uint32_t>(sizeof sync);
  if (Request* r = match(a)) {
    deliver(*r, a.envelope, static_cast<const char*>(a.data) + sizeof sync, bytes);
    return answer_sync(sync);
  }
  keep(a.envelope, wire::eager_sync, a.data, a.bytes, bytes);
}

bool consume_eager_sync(Request& r, Unexpected& message) {
  wire::Sync sync;
  std::memcpy(&sync, message.data(), sizeof sync);
  answer_sync(sync);
  deliver(r, message.envelope, message.data() + sizeof sync, message.message_bytes);
  return false;
}

constinit const Handler eager_sync_handler{.kind = wire::eager_sync,
                                           .least_bytes = sizeof(wire::Sync),
                                           .name = "E0 synchronous",
                                           .take = on_eager_sync,
                                           .consume = consume_eager_sync};
WEFT_HANDLER(eager_sync_handler);

}  // namespace

bool receive_ring(Lane& lane) {
  constexpr uint64_t most = 64;  // then the caller looks at what it waits for
  uint64_t received = 0;
  while (received < most && lane.ring->read([&](const transport::Arrival& arrival) {
    if (arrival.kind == wire::eager) [[likely]] {
      take_eager(lane, arrival);
    } else {
      on_arrival(arrival);
    }
  })) {
    ++received;
    if (lane.lock.is_wanted()) [[unlikely]]
      break;
  }
  if (received != 0)
    lane.arrived.store(lane.arrived.load(std::memory_order_relaxed) + received, std::memory_order_relaxed);
  return received != 0;
}

}  // namespace weft::core
