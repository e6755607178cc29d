// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// R1: the sender moves the data through its staging buffers in chunks, the receiver copies each out as it comes, so
// both sides copy at the same time. For unreadable data, for very large messages, and for layouts with gaps, which are
// packed and unpacked chunk by chunk.
//
//   rts         sender to receiver (r0_get.cpp)
//   rts_stream  the same when rendezvous is switched off: the chunks follow it at once
//   cts         receiver to sender: how much it wants, and where it may be written
//   chunk       sender to receiver: the next piece. The send is complete with the last; there is no FIN
//
// Between hosts the receiver registers the memory of a receive without gaps, and chunks are written there where the
// network does that. Each comes as a message that reports it, with its contents where they could not be written.
#include <algorithm>
#include <cstring>
#include <new>

#include "base/copy.hpp"
#include "base/tsan.hpp"
#include "core/lane/lane.hpp"
#include "core/object/failure.hpp"
#include "core/peer/peer.hpp"
#include "core/protocol/device_pipe.hpp"
#include "core/protocol/protocol.hpp"
#include "datatype/pack.hpp"
#include "device/api/traffic.hpp"

namespace weft::core {

const PathInfo stream_info = {"R1 stream", "the sender puts chunks into staging buffers, the receiver copies them out",
                              "two copies at the same time, a handshake"};

namespace {

void end_stream(Request& r) {
  take_number(r);
  complete_send(r, Path::stream);
}

// A chunk is written, or goes as a message after all, and the receiver is told. The send is over with the last: until
// then its request names the stream, and a thread that waits for it makes the progress that telling needs.
void on_written(void* whose, bool written) {
  Request& r = *static_cast<Request*>(whose);
  if (!written) count(lanes->all[r.lane].writes_failed);
  if (--r.placing == 0 && r.moved == r.limit) end_stream(r);
}

transport::Post send_staged(Request& r, const wire::Chunk& chunk, const transport::Staging& staging) {
  const Envelope envelope{0, 0, 0, r.their_lane};
  if (r.target.key != MemoryRef::no_key) {
    const transport::Post posted =
        r.peer->endpoint->write(wire::chunk, envelope, &chunk, sizeof chunk, staging, chunk.bytes, r.target,
                                static_cast<size_t>(r.moved), r.lane, {on_written, &r});
    if (posted != transport::Post::unsupported) return posted;
    r.target.key = MemoryRef::no_key;
  }
  return r.peer->endpoint->send_staged(wire::chunk, envelope, &chunk, sizeof chunk, staging, chunk.bytes);
}

// The receiver waits for the rest, which it would take for data.
[[gnu::cold, noreturn]] void break_off(const Request& r) {
  failed(FailureCause::transport, {.cause = "a message from a device to rank " + std::to_string(r.peer->rank) +
                                            " broke off: " + device::last_problem(),
                                   .remedy = "keep the memory of a send until it is complete"});
}

// Sends a chunk that is in its staging memory; false: the way is full, and the memory is given back.
bool post_chunk(Request& r, const transport::Staging& staging, int64_t bytes) {
  base::give_to_process(&base::sent_data);
  const wire::Chunk chunk{number_of(r), static_cast<uint64_t>(r.moved), staging.handle, static_cast<uint32_t>(bytes),
                          r.peer->our_rank};
  switch (send_staged(r, chunk, staging)) {
    case transport::Post::posted:
      ++r.placing;
      break;
    case transport::Post::done:
      break;
    default:
      r.peer->transport->drop_staging(staging, static_cast<size_t>(bytes));
      return false;
  }
  r.moved += bytes;
  return true;
}

// Waits for a copy that was begun; whether it went well.
bool is_copied(const device::Copy& copy) {
  for (;;) {
    const device::Progress progress = device::active->look(copy);
    if (progress != device::Progress::running) return progress == device::Progress::done;
  }
}

// Moves several chunks of a message without gaps from a device: their copies are begun together, and each is sent when
// it is over. False as send_chunk().
bool send_chunks_of_device(Request& r, int64_t chunk_bytes, int32_t depth) {
  struct Begun {
    transport::Staging staging;
    int64_t bytes;
    device::Copy copy;
  };
  Begun begun[most_device_depth];
  int32_t count = 0;
  std::string problem;
  for (int64_t at = r.moved; at < r.limit && count < depth && problem.empty(); ++count) {
    Begun& next = begun[count];
    next.bytes = std::min(r.limit - at, chunk_bytes);
    next.copy = {};
    next.staging = r.peer->transport->reserve_staging(static_cast<size_t>(next.bytes));
    if (next.staging.memory == nullptr) break;
    problem = device::active->begin(next.staging.memory, static_cast<char*>(r.buffer) + at,
                                    static_cast<size_t>(next.bytes), next.copy);
    if (!problem.empty()) device::fail(problem);
    at += next.bytes;
  }
  if (!problem.empty()) break_off(r);
  bool goes = true;
  for (int32_t i = 0; i < count; ++i) {
    if (!is_copied(begun[i].copy)) {
      device::fail("a copy that was begun has failed");
      break_off(r);
    }
    device::count(device::CopyMethod::packed, goes ? begun[i].bytes : 0);
    if (goes) {
      goes = post_chunk(r, begun[i].staging, begun[i].bytes);
    } else {
      r.peer->transport->drop_staging(begun[i].staging, static_cast<size_t>(begun[i].bytes));
    }
  }
  return goes && count > 0;
}

// The receiver copies a chunk while the sender copies the next one: small chunks let it begin early, and each costs as
// much as copying 4 KiB.
int64_t chunk_of_host(int64_t bytes) {
  return std::clamp(bytes / 4 / least_chunk * least_chunk, least_chunk, most_chunk);
}

// Moves a chunk of a stream, or some; false when staging memory or the way is full.
bool send_chunk(Request& r) {
  const DevicePipe pipe = r.flags.on_device ? device_pipe(r.bytes) : DevicePipe{0, chunk_of_host(r.limit), 1};
  if (r.flags.on_device) pin_staging(*r.peer);
  if (r.peer->queues_on(r.their_lane)) return false;
  const auto chunk_bytes =
      static_cast<int64_t>(std::min(static_cast<size_t>(pipe.chunk), r.peer->transport->capabilities().staging_most));
  if (r.flags.on_device && r.layout->contiguous) return send_chunks_of_device(r, chunk_bytes, pipe.depth);
  const int64_t bytes = std::min(r.limit - r.moved, chunk_bytes);
  transport::Staging staging = r.peer->transport->reserve_staging(static_cast<size_t>(bytes));
  if (staging.memory == nullptr) return false;
  if (r.layout != nullptr) {
    pack_data(r, r.moved, staging.memory, bytes);
    if (note_failed_copy(r)) break_off(r);
  } else {
    base::copy(staging.memory, static_cast<char*>(r.buffer) + r.moved, static_cast<size_t>(bytes));
  }
  return post_chunk(r, staging, bytes);
}

}  // namespace

bool advance_streams(Lane& lane) {
  // A chunk to ourselves may complete a receive whose owner starts a new stream: work on a list of our own.
  Request* r = lane.streams;
  lane.streams = nullptr;
  bool moved = false;
  while (r != nullptr) {
    Request* next = r->next;
    const int64_t before = r->moved;
    while (r->moved < r->limit && send_chunk(*r)) {
    }
    moved = moved || r->moved != before;
    if (r->moved < r->limit) {
      r->next = lane.streams;
      lane.streams = r;
    } else {
      if (r->placing == 0) end_stream(*r);  // otherwise on_written() does
      moved = true;
    }
    r = next;
  }
  return moved;
}

namespace {

constinit const ProgressHook stream_work{"R1", advance_streams,
                                         [](const Lane& lane) { return lane.streams != nullptr; }, [](Lane&) {}};
WEFT_PROGRESS_HOOK(stream_work);

}  // namespace

void start_stream(Request& r) {
  Lane& lane = lanes->all[r.lane];
  r.moved = 0;
  r.placing = 0;
  r.next = lane.streams;
  lane.streams = &r;
  lane.at_work.store(true, std::memory_order_relaxed);
}

void stream_to(Request& r, int64_t limit, const MemoryRef& target, uint16_t their_lane) {
  enter_stage(r, NumberStage::streaming);
  deregister(r);
  r.limit = limit;
  r.target = target;
  r.their_lane = their_lane;
  start_stream(r);
}

namespace {

void on_cts(const transport::Arrival& arrival) {
  const auto cts = payload_of<wire::Cts>(arrival);
  Request* r = answered(arrival, cts.send);
  if (r == nullptr) return;
  if (cts.limit == 0 || cts.limit > static_cast<uint64_t>(r->bytes) || cts.lane >= r->peer->lane_map.lanes()) {
    failed(FailureCause::protocol, r->peer->rank,
           {.cause = "a CTS of rank " + std::to_string(r->peer->rank) + " asks for " + std::to_string(cts.limit) +
                     " bytes on lane " + std::to_string(cts.lane) + ", of a message of " + std::to_string(r->bytes),
            .remedy = "run all ranks with the same version of Weft"});
  }
  drop_push(lane_of(arrival), *r);
  if (r->asks_way) r->peer->endpoint->note_answer(transport::Way::cells, static_cast<size_t>(r->bytes));
  stream_to(*r, static_cast<int64_t>(cts.limit), cts.memory, static_cast<uint16_t>(cts.lane));
}

constinit const Handler cts_handler{.kind = wire::cts, .least_bytes = sizeof(wire::Cts), .name = "CTS", .take = on_cts};
WEFT_HANDLER(cts_handler);

}  // namespace

// ---- receiving

// A message coming in: to a matched receive, or to memory of its own until it is matched.
struct Inflow {
  uint64_t send;
  int32_t origin;
  Request* receive;
  Unexpected* unexpected;
  Envelope envelope;
  int64_t message_bytes;
  int64_t limit;  // bytes that will come
  int64_t received;
  MemoryRef registered;  // memory of the receive, to be written into: deregistered at the end
  Inflow* next;
};

namespace {

Inflow* open_inflow(uint64_t send, int32_t origin, const Envelope& envelope, int64_t message_bytes, int64_t limit) {
  Lane& lane = lanes->all[envelope.lane];
  auto* inflow = new (std::nothrow)
      Inflow{send, origin, nullptr, nullptr, envelope, message_bytes, limit, 0, {0, MemoryRef::no_key}, lane.inflows};
  if (inflow == nullptr) {
    failed(FailureCause::memory,
           {.cause = "no memory for a message that is coming in", .remedy = "free memory on this host"});
  }
  lane.inflows = inflow;
  return inflow;
}

void close_inflow(Inflow* inflow) {
  Inflow** at = &lanes->all[inflow->envelope.lane].inflows;
  while (*at != inflow) at = &(*at)->next;
  *at = inflow->next;
  delete inflow;
}

// The end of a stream, when its last byte is here. Nobody writes into a receive that is over.
void end_inflow(Inflow* inflow) {
  if (inflow->registered.key != MemoryRef::no_key) peers->of(inflow->origin).transport->deregister(inflow->registered);
  if (inflow->receive != nullptr) {
    note_end(*inflow->receive, peers->of(inflow->origin), inflow->limit);
    finish_receive(*inflow->receive, inflow->envelope, inflow->message_bytes);
  } else {
    inflow->unexpected->kind = wire::eager;  // from here on like any message that came whole
    inflow->unexpected->inflow = nullptr;
  }
  close_inflow(inflow);
}

}  // namespace

void send_cts(Request& r, const Envelope& envelope, Peer& peer, uint32_t their_lane, uint64_t send,
              int64_t message_bytes, int64_t wanted) {
  if (r.flags.on_device) pin_staging(peer);
  if (r.way == transport::Way::kernel) {  // which refused
    peer.endpoint->note_message(r.way, static_cast<size_t>(wanted), UINT32_MAX);
    r.way = transport::Way::other;
  }
  Inflow* inflow = open_inflow(send, peer.rank, envelope, message_bytes, wanted);
  inflow->receive = &r;
  if (r.layout == nullptr) {
    inflow->registered =
        peer.transport->register_memory(r.buffer, static_cast<size_t>(wanted), transport::Access::write);
  }
  const wire::Cts cts{send, static_cast<uint64_t>(wanted), inflow->registered, envelope.lane, 0};
  send_control(peer, their_lane, wire::cts, &cts, sizeof cts);
}

namespace {

void on_rts_stream(const transport::Arrival& a) {
  const wire::Rts rts = rts_of(a);
  const auto bytes = static_cast<int64_t>(rts.bytes);
  if (Request* r = match(a)) {
    note_begin(*r, lane_of(a), rts.readable == wire::Rts::may_stream ? transport::Way::cells : transport::Way::other);
    open_inflow(rts.send, rts.origin, a.envelope, bytes, bytes)->receive = r;
    return;
  }
  Unexpected* u = new_unexpected(a.envelope, wire::rts_stream, bytes, bytes);
  Inflow* inflow = open_inflow(rts.send, rts.origin, a.envelope, bytes, bytes);
  u->inflow = inflow;
  inflow->unexpected = u;
  list_unexpected(lane_of(a), u);
}

// Turns the rest of a stream towards a receive matched while it was coming.
bool consume_stream(Request& r, Unexpected& message) {
  Inflow& inflow = *static_cast<Inflow*>(message.inflow);
  store(r, 0, message.data(), inflow.received);  // chunks come in order
  inflow.unexpected = nullptr;
  r.way = transport::Way::other;
  inflow.receive = &r;
  return false;
}

constinit const Handler rts_stream_handler{.kind = wire::rts_stream,
                                           .least_bytes = sizeof(wire::Rts),
                                           .name = "RTS, stream follows",
                                           .take = on_rts_stream,
                                           .consume = consume_stream};
WEFT_HANDLER(rts_stream_handler);

void on_chunk(const transport::Arrival& arrival) {
  const auto chunk = payload_of<wire::Chunk>(arrival);
  const Peer& peer = sender_of(arrival, chunk.origin);
  const void* data = staged(arrival, peer, chunk.handle, chunk.bytes);
  Inflow* inflow = lane_of(arrival).inflows;
  while (inflow != nullptr && (inflow->send != chunk.send || inflow->origin != chunk.origin)) inflow = inflow->next;
  if (Handed over; inflow == nullptr && hand_over(lane_of(arrival), chunk.origin, chunk.send, over)) {
    inflow = open_inflow(chunk.send, chunk.origin, over.envelope, over.message_bytes, over.wanted);
    inflow->receive = over.receive;
  }
  if (inflow == nullptr) {  // its receive ended, with an error
    if (data != nullptr) peer.endpoint->release_staging(chunk.handle, chunk.bytes);
    return count(lane_of(arrival).stale);
  }
  const uint64_t limit = static_cast<uint64_t>(inflow->limit);
  if (chunk.position > limit || chunk.bytes > limit - chunk.position ||
      chunk.bytes > limit - static_cast<uint64_t>(inflow->received) ||
      (data == nullptr && inflow->registered.key == MemoryRef::no_key)) {
    failed(FailureCause::protocol, chunk.origin,
           {.cause = "a chunk of rank " + std::to_string(chunk.origin) + " lies outside its message of " +
                     std::to_string(limit) + " bytes, or came without its data",
            .remedy = "run all ranks with the same version of Weft"});
  }
  const auto position = static_cast<int64_t>(chunk.position);
  if (data == nullptr) {
    count(lane_of(arrival).bytes_placed, chunk.bytes);
  } else if (inflow->receive != nullptr) {
    store_staged(*inflow->receive, position, *peer.endpoint, chunk.handle, data, chunk.bytes);
  } else {
    peer.endpoint->take_staging(chunk.handle, data, inflow->unexpected->data() + position, chunk.bytes);
  }
  inflow->received += chunk.bytes;
  if (inflow->received == inflow->limit) end_inflow(inflow);
}

constinit const Handler chunk_handler{
    .kind = wire::chunk, .least_bytes = sizeof(wire::Chunk), .name = "R1 chunk", .take = on_chunk};
WEFT_HANDLER(chunk_handler);

}  // namespace

bool streams_into_receives(const Lane& lane) {
  for (const Inflow* inflow = lane.inflows; inflow != nullptr; inflow = inflow->next) {
    if (inflow->receive != nullptr) return true;
  }
  return false;
}

int64_t count_streams_in(const Lane& lane, const Peer& peer) {
  int64_t count = 0;
  for (const Inflow* inflow = lane.inflows; inflow != nullptr; inflow = inflow->next) {
    if (inflow->origin == peer.rank) ++count;
  }
  return count;
}

void end_streams_in(Lane& lane, const Peer& peer, std::vector<Request*>& ended) {
  for (Inflow** at = &lane.inflows; *at != nullptr;) {
    Inflow* inflow = *at;
    if (inflow->origin != peer.rank) {
      at = &inflow->next;
      continue;
    }
    *at = inflow->next;
    if (inflow->registered.key != MemoryRef::no_key) peer.transport->deregister(inflow->registered);
    if (inflow->receive != nullptr) {
      ended.push_back(inflow->receive);
    } else {
      lane.matcher.remove(inflow->unexpected);
      free_unexpected(inflow->unexpected);
    }
    delete inflow;
  }
}

}  // namespace weft::core
