// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/message/unexpected.hpp"

#include <cstdlib>
#include <cstring>

#include "base/copy.hpp"
#include "base/setting.hpp"
#include "core/lane/lane.hpp"
#include "core/message/handler.hpp"
#include "core/object/comm.hpp"
#include "core/object/event.hpp"
#include "core/object/failure.hpp"
#include "core/peer/peer.hpp"
#include "core/thread/stamp.hpp"
#include "core/thread/waits.hpp"

namespace weft::core {

namespace {

constinit base::IntSetting unexpected_limit{
    {.name = "WEFT_UNEXPECTED_LIMIT",
     .help = "memory for messages that come before their receives; beyond it senders send envelopes only",
     .unit = base::Unit::bytes,
     .level = base::SettingLevel::basic,
     .subject = base::Subject::memory,
     .change = base::Change::always},
    16 << 20,
    {64 << 10, int64_t{1} << 40}};
WEFT_SETTING(unexpected_limit);

// Unexpected messages up to this much data come from a list of used ones: a small message needs no memory of the heap.
constexpr uint32_t pooled_bytes = 64;
constexpr int pooled_most = 1024;

// Raises a counter that any thread may read; see count().
void raise_to(uint64_t& most, uint64_t now) {
  if (now > most) std::atomic_ref(most).store(now, std::memory_order_relaxed);
}

// A lane's part of what the process keeps at most.
int64_t lane_limit() {
  return unexpected_limit.value() >> lanes->map.lanes_log2();
}

}  // namespace

Unexpected* new_unexpected(const Envelope& envelope, uint8_t kind, int64_t bytes, int64_t message_bytes) {
  Lane& lane = lanes->all[envelope.lane];
  Unexpected* u = lane.free_unexpected;
  bool pooled = true;
  if (bytes <= pooled_bytes && u != nullptr) {
    lane.free_unexpected = u->next;
    --lane.free_unexpected_count;
  } else {
    // Where many are kept each takes what it needs: 96 bytes of memory for an empty one.
    pooled = bytes <= pooled_bytes && lane.matcher.kept() < pooled_most;
    const size_t room = pooled ? pooled_bytes : static_cast<size_t>(bytes);
    u = static_cast<Unexpected*>(std::malloc(sizeof(Unexpected) + room));
    if (u == nullptr) {
      failed(FailureCause::memory, {.cause = "no memory for a message of " + std::to_string(message_bytes) +
                                             " bytes that came before its receive",
                                    .remedy = "post receives earlier, free memory, or lower WEFT_UNEXPECTED_LIMIT"});
    }
  }
  *u = Unexpected{.envelope = envelope,
                  .kind = kind,
                  .pooled = pooled,
                  .numbered_by = lane.numbered_by,
                  .stored = static_cast<uint64_t>(bytes),
                  .message_bytes = message_bytes};
  if (envelope.stamp == 0 && lanes->map.mask != 0) u->envelope.stamp = own_stamp();  // our own message
  count(lane.unexpected);
  const int64_t kept_bytes = lane.unexpected_bytes.load(std::memory_order_relaxed) + bytes;
  lane.unexpected_bytes.store(kept_bytes, std::memory_order_relaxed);
  raise_to(lane.most_unexpected_bytes, static_cast<uint64_t>(kept_bytes));
  raise_to(lane.most_unexpected, lane.matcher.kept() + uint64_t{1});
  if (kept_bytes > lane_limit() && !lane.saturated) [[unlikely]] {
    lane.saturated = true;
    count(lane.saturations);
    tell_of(Event::saturated, {.amount = kept_bytes});
    if (lanes->saturated.fetch_add(1) == 0) peers->set_congested(true);
  }
  return u;
}

void list_unexpected(Lane& lane, Unexpected* u) {
  const Envelope& e = u->envelope;
  lane.matcher.add(u);
  tell_of(Event::unexpected, {e.source, e.tag, u->message_bytes, is_internal(e)});
  tell_sleepers(nullptr);  // for threads that wait in a probe
}

void free_unexpected(Unexpected* u) {
  Lane& lane = lanes->all[u->envelope.lane];
  const int64_t kept_bytes = lane.unexpected_bytes.load(std::memory_order_relaxed) - static_cast<int64_t>(u->stored);
  lane.unexpected_bytes.store(kept_bytes, std::memory_order_relaxed);
  if (lane.saturated && kept_bytes < lane_limit() / 2) [[unlikely]] {
    lane.saturated = false;
    if (lanes->saturated.fetch_sub(1) == 1) peers->set_congested(false);
  }
  if (u->pooled && lane.free_unexpected_count < pooled_most) {
    u->next = lane.free_unexpected;
    lane.free_unexpected = u;
    ++lane.free_unexpected_count;
  } else {
    std::free(u);
  }
}

void keep(const Envelope& envelope, uint8_t kind, const void* data, int64_t bytes, int64_t message_bytes) {
  Unexpected* u = new_unexpected(envelope, kind, bytes, message_bytes);
  if (bytes != 0) base::copy(u->data(), data, static_cast<size_t>(bytes));
  list_unexpected(lanes->all[envelope.lane], u);
}

void consume(Request& r, Unexpected* message) {
  const bool still_filled = handler_of(message->kind)->consume(r, *message);
  if (!still_filled) free_unexpected(message);
}

}  // namespace weft::core
