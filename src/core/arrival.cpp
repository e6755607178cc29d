// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// What a lane does with each kind of message that arrives.
#include <cstdlib>
#include <cstring>

#include "base/setting.hpp"
#include "core/event.hpp"
#include "core/failure.hpp"
#include "core/notice.hpp"
#include "core/protocol/protocol.hpp"
#include "core/rma/serve.hpp"
#include "core/stamp.hpp"
#include "datatype/pack.hpp"

namespace weft::core {

namespace {

constinit base::IntSetting unexpected_limit{
    {.name = "WEFT_UNEXPECTED_LIMIT",
     .help = "memory for messages that come before their receives; beyond it senders send envelopes only",
     .unit = base::Unit::bytes,
     .level = base::Level::basic,
     .subject = base::Subject::memory,
     .change = base::Change::always},
    16 << 20,
    {64 << 10, int64_t{1} << 40}};
WEFT_SETTING(unexpected_limit);

// Unexpected messages up to this much data come from a list of used ones: no heap on the road of a small message.
constexpr uint32_t pooled_bytes = 64;
constexpr int pooled_most = 1024;

Lane& lane_of(const transport::Arrival& a) {
  return world->lanes[a.envelope.lane];
}

void acknowledge(const wire::Sync& sync) {
  const wire::Finished finished{sync.send};
  send_control(world->peer(sync.origin), sync.lane, wire::finished, &finished, sizeof finished);
}

void deliver(Request& r, const Envelope& envelope, const void* data, int64_t bytes) {
  store(r, 0, data, bytes);
  finish_receive(r, envelope, bytes);
}

[[gnu::noinline]] void keep(const Envelope& envelope, uint8_t kind, const void* data, int64_t bytes,
                            int64_t message_bytes) {
  Unexpected* u = new_unexpected(envelope, kind, bytes, message_bytes);
  if (bytes != 0) std::memcpy(u->data(), data, static_cast<size_t>(bytes));
  list_unexpected(world->lanes[envelope.lane], u);
}

[[gnu::always_inline]] inline void on_eager(Lane& lane, const transport::Arrival& a) {
  Request* r = lane.matcher.take_receive(a.envelope, world->wildcards);
  if (r == nullptr) [[unlikely]]
    return keep(a.envelope, wire::eager, a.data, a.bytes, a.bytes);
  if (a.bytes == 8 && r->bytes >= 8 && r->layout == nullptr) [[likely]] {
    __builtin_memcpy(r->buffer, a.data, 8);
  } else {
    store(*r, 0, a.data, a.bytes);
  }
  finish_receive(*r, a.envelope, a.bytes);
}

void on_eager_sync(const transport::Arrival& a) {
  const auto sync = payload_of<wire::Sync>(a);
  const int64_t bytes = a.bytes - static_cast<uint32_t>(sizeof sync);
  if (Request* r = lane_of(a).matcher.take_receive(a.envelope, world->wildcards)) {
    deliver(*r, a.envelope, static_cast<const char*>(a.data) + sizeof sync, bytes);
    return acknowledge(sync);
  }
  keep(a.envelope, wire::eager_sync, a.data, a.bytes, bytes);
}

void on_buffered(const transport::Arrival& a) {
  const auto buffered = payload_of<wire::Buffered>(a);
  transport::Endpoint& from = *world->peer(buffered.origin).endpoint;
  const void* data = from.staging(a, buffered.handle);
  const auto bytes = static_cast<int64_t>(buffered.bytes);
  if (Request* r = lane_of(a).matcher.take_receive(a.envelope, world->wildcards)) {
    deliver(*r, a.envelope, data, bytes);
  } else {
    keep(a.envelope, wire::eager, data, bytes, bytes);
  }
  from.release_staging(buffered.handle, buffered.bytes);
}

void on_announce(const transport::Arrival& a) {
  const auto announced = payload_of<wire::Announce>(a);
  if (Request* r = lane_of(a).matcher.take_receive(a.envelope, world->wildcards))
    return fetch(*r, a.envelope, announced);
  keep(a.envelope, wire::announce, a.data, a.bytes, static_cast<int64_t>(announced.bytes));
}

void on_announce_stream(const transport::Arrival& a) {
  const auto announced = payload_of<wire::Announce>(a);
  const auto bytes = static_cast<int64_t>(announced.bytes);
  Request* r = lane_of(a).matcher.take_receive(a.envelope, world->wildcards);
  Inflow* inflow = open_inflow(announced.send, announced.origin, a.envelope, bytes, bytes);
  if (r != nullptr) {
    inflow->receive = r;
    return;
  }
  Unexpected* u = new_unexpected(a.envelope, wire::announce_stream, bytes, bytes);
  u->inflow = inflow;
  inflow->unexpected = u;
  list_unexpected(lane_of(a), u);
}

void on_finished(const transport::Arrival& a) {
  auto* r = reinterpret_cast<Request*>(payload_of<wire::Finished>(a).send);
  drop_push(lane_of(a), *r);
  deregister(*r);
  complete_send(*r, r->bytes <= world->mailbox_limit ? Path::mailbox : Path::get);
}

// Whether an unexpected message is the one that this send left.
bool comes_from(Unexpected& u, const wire::Recall& recall) {
  if (u.kind == wire::announce) {
    wire::Announce announced;
    std::memcpy(&announced, u.data(), sizeof announced);
    return announced.send == recall.send && announced.origin == recall.origin;
  }
  if (u.kind == wire::eager_sync) {
    wire::Sync sync;
    std::memcpy(&sync, u.data(), sizeof sync);
    return sync.send == recall.send && sync.origin == recall.origin;
  }
  return false;
}

void on_recall(const transport::Arrival& a) {
  const auto recall = payload_of<wire::Recall>(a);
  Matcher& matcher = lane_of(a).matcher;
  Unexpected* u = matcher.first_unexpected();
  while (u != nullptr && !comes_from(*u, recall)) u = u->next;
  if (u != nullptr) {
    matcher.remove(u);
    free_unexpected(u);
  }
  const wire::Recalled recalled{recall.send, u != nullptr ? 1u : 0u, 0};
  send_control(world->peer(recall.origin), recall.lane, wire::recalled, &recalled, sizeof recalled);
}

void on_recalled(const transport::Arrival& a) {
  const auto recalled = payload_of<wire::Recalled>(a);
  if (recalled.done == 0) return;  // it was matched: the send completes as usual
  auto* r = reinterpret_cast<Request*>(recalled.send);
  deregister(*r);
  r->flags.cancelled = true;
  lane_of(a).count_sends(-1);
  complete(*r);
}

}  // namespace

bool receive_ring(Lane& lane) {
  constexpr uint64_t most = 64;  // then the caller looks at what it waits for
  uint64_t received = 0;
  while (received < most && lane.ring->read([&](const transport::Arrival& arrival) {
    if (arrival.kind == wire::eager) [[likely]] {
      on_eager(lane, arrival);
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

void check_size(const transport::Arrival& arrival, size_t bytes) {
  if (arrival.bytes >= bytes) [[likely]]
    return;
  protocol_error(unknown_rank, {.cause = "a protocol message of kind " + std::to_string(arrival.kind) +
                                         " is too short (" + std::to_string(arrival.bytes) + " bytes)",
                                .remedy = "run all ranks with the same version of Weft"});
}

void on_arrival(const transport::Arrival& arrival) {
  switch (arrival.kind) {
    case wire::eager:
      return on_eager(lane_of(arrival), arrival);
    case wire::eager_sync:
      return on_eager_sync(arrival);
    case wire::buffered:
      return on_buffered(arrival);
    case wire::pushed:
      return on_pushed(arrival);
    case wire::announce:
      return on_announce(arrival);
    case wire::announce_stream:
      return on_announce_stream(arrival);
    case wire::ask_stream:
      return on_ask_stream(arrival);
    case wire::chunk:
      return on_chunk(arrival);
    case wire::finished:
      return on_finished(arrival);
    case wire::offer:
      return on_offer(arrival);
    case wire::delivered:
      return on_delivered(arrival);
    case wire::recall:
      return on_recall(arrival);
    case wire::recalled:
      return on_recalled(arrival);
    case wire::notice:
      return on_notice(payload_of<wire::Notice>(arrival).word);
    case wire::rma:
      return rma::on_frame(arrival);
    case wire::rma_staged:
      return rma::on_staged_frame(arrival);
    case wire::rma_answer:
      return rma::on_answer(arrival);
    default:
      protocol_error(unknown_rank, {.cause = "a message of unknown kind " + std::to_string(arrival.kind) + " arrived",
                                    .remedy = "run all ranks with the same version of Weft"});
  }
}

void on_own_arrival(const transport::Arrival& arrival) {
  std::atomic<uint64_t>& arrived = lane_of(arrival).arrived;
  arrived.store(arrived.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  on_arrival(arrival);
}

void store(Request& r, int64_t position, const void* data, int64_t bytes) {
  const int64_t room = r.bytes - position;
  if (bytes > room) [[unlikely]]
    bytes = room > 0 ? room : 0;
  if (r.layout != nullptr) [[unlikely]] {
    datatype::unpack(*r.layout, r.count, r.buffer, position, data, bytes);
  } else if (bytes != 0) {
    std::memcpy(static_cast<char*>(r.buffer) + position, data, static_cast<size_t>(bytes));
  }
}

namespace {

// What any thread may read; see count().
void raise_to(uint64_t& most, uint64_t now) {
  if (now > most) std::atomic_ref(most).store(now, std::memory_order_relaxed);
}

// A lane's part of what the process keeps at most.
int64_t lane_limit() {
  return unexpected_limit.value() >> world->lane_map.lanes_log2();
}

}  // namespace

Unexpected* new_unexpected(const Envelope& envelope, uint8_t kind, int64_t bytes, int64_t message_bytes) {
  Lane& lane = world->lanes[envelope.lane];
  Unexpected* u = lane.free_unexpected;
  if (bytes <= pooled_bytes && u != nullptr) {
    lane.free_unexpected = u->next;
    --lane.free_unexpected_count;
  } else {
    const size_t room = bytes <= pooled_bytes ? pooled_bytes : static_cast<size_t>(bytes);
    u = static_cast<Unexpected*>(std::malloc(sizeof(Unexpected) + room));
    if (u == nullptr) {
      out_of_memory({.cause = "no memory for a message of " + std::to_string(message_bytes) +
                              " bytes that came before its receive",
                     .remedy = "post receives earlier, free memory, or lower WEFT_UNEXPECTED_LIMIT"});
    }
  }
  *u = Unexpected{
      .envelope = envelope, .kind = kind, .stored = static_cast<uint64_t>(bytes), .message_bytes = message_bytes};
  if (envelope.stamp == 0 && world->lane_map.mask != 0) u->envelope.stamp = own_stamp();  // from ourselves
  count(lane.unexpected);
  const int64_t kept_bytes = lane.unexpected_bytes.load(std::memory_order_relaxed) + bytes;
  lane.unexpected_bytes.store(kept_bytes, std::memory_order_relaxed);
  raise_to(lane.most_unexpected_bytes, static_cast<uint64_t>(kept_bytes));
  raise_to(lane.most_unexpected, lane.matcher.kept() + uint64_t{1});
  if (kept_bytes > lane_limit() && !lane.saturated) [[unlikely]] {
    lane.saturated = true;
    count(lane.saturations);
    tell_of(Event::saturated, {.amount = kept_bytes});
    if (world->saturated_lanes.fetch_add(1) == 0) world->set_congested(true);
  }
  return u;
}

void list_unexpected(Lane& lane, Unexpected* u) {
  const Envelope& e = u->envelope;
  lane.matcher.add(u);
  tell_of(Event::unexpected, {e.source, e.tag, u->message_bytes, is_internal(e)});
  tell_sleepers(nullptr);  // who waits in a probe
}

void free_unexpected(Unexpected* u) {
  Lane& lane = world->lanes[u->envelope.lane];
  const int64_t kept_bytes = lane.unexpected_bytes.load(std::memory_order_relaxed) - static_cast<int64_t>(u->stored);
  lane.unexpected_bytes.store(kept_bytes, std::memory_order_relaxed);
  if (lane.saturated && kept_bytes < lane_limit() / 2) [[unlikely]] {
    lane.saturated = false;
    if (world->saturated_lanes.fetch_sub(1) == 1) world->set_congested(false);
  }
  if (u->stored <= pooled_bytes && lane.free_unexpected_count < pooled_most) {
    u->next = lane.free_unexpected;
    lane.free_unexpected = u;
    ++lane.free_unexpected_count;
  } else {
    std::free(u);
  }
}

void consume(Request& r, Unexpected* u) {
  switch (u->kind) {
    case wire::announce: {
      wire::Announce announced;
      std::memcpy(&announced, u->data(), sizeof announced);
      fetch(r, u->envelope, announced);
      break;
    }
    case wire::announce_stream:
      redirect(*static_cast<Inflow*>(u->inflow), r);
      break;
    case wire::pushed:
      return receive_landing(*u, r);
    case wire::eager_sync: {
      wire::Sync sync;
      std::memcpy(&sync, u->data(), sizeof sync);
      acknowledge(sync);
      deliver(r, u->envelope, u->data() + sizeof sync, u->message_bytes);
      break;
    }
    default:
      deliver(r, u->envelope, u->data(), u->message_bytes);
  }
  free_unexpected(u);
}

}  // namespace weft::core
