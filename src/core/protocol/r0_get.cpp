// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// R0: the sender announces where the data lies, the receiver reads it from there: from the shared heap, from private
// memory through the kernel, or from registered memory of another host. One copy. What cannot be read that way comes by
// R1.
#include "base/setting.hpp"
#include "core/event.hpp"
#include "core/protocol/protocol.hpp"
#include "core/settings.hpp"

namespace weft::core {

const PathInfo get_info = {"R0 get", "the sender announces, the receiver reads the sender's memory",
                           "one copy, a handshake"};

namespace {

// No limit by default: on one host R0, copied by both sides, moved 4 MiB messages at 14 to 19 GB/s and R1 at 4 GB/s
// (docs/performance.md, "R0 or R1"). WEFT_R0_LIMIT=4M gives the ranges that suit transfer engines between hosts.
constinit base::IntSetting get_limit{{.name = "WEFT_R0_LIMIT",
                                      .help = "largest message read from the sender's private memory (R0); above: R1",
                                      .unit = base::Unit::bytes,
                                      .level = base::Level::basic,
                                      .subject = base::Subject::messages,
                                      .change = base::Change::always},
                                     int64_t{1} << 40,
                                     {0, int64_t{1} << 40}};
WEFT_SETTING(get_limit);

// Between cores far from each other R0 moved 4 MiB with gaps at one end at 4 to 8 GB/s and R1 at 3 to 3.5, but 128 KiB
// at 6 and R1 at 7; between cores that share a cache R1 is faster at any size (docs/performance.md, "Layouts with
// gaps").
constinit base::IntSetting gaps_from{
    {.name = "WEFT_R0_GAPS_FROM",
     .help = "smallest message of a layout with gaps that is copied between the two memories (R0); below: R1",
     .unit = base::Unit::bytes},
    1 << 20,
    {0, int64_t{1} << 40}};
WEFT_SETTING(gaps_from);

constinit base::BoolSetting rendezvous{
    {.name = "WEFT_RENDEZVOUS",
     .help = "ask the receiver before sending large messages; off: all data goes through "
             "internal buffers at once",
     .level = base::Level::basic,
     .subject = base::Subject::messages,
     .change = base::Change::always},
    true};
WEFT_SETTING(rendezvous);

}  // namespace

int64_t get_bytes() {
  return get_limit.value();
}
bool rendezvous_on() {
  return rendezvous.value();
}

void deregister(Request& r) {
  if (r.registered.key == MemoryRef::no_key) return;
  r.peer->transport->deregister(r.registered);
  r.registered.key = MemoryRef::no_key;
}

bool announce(Request& r) {
  const bool readable = r.layout == nullptr;
  const bool ask = rendezvous.value() || r.mode == Mode::synchronous || r.peer->endpoint->congested();
  // What is registered already found the way full.
  if (readable && r.registered.key == MemoryRef::no_key) {
    const auto access = ask && r.bytes <= get_limit.value() ? transport::Access::read : transport::Access::named;
    r.registered = r.peer->transport->register_memory(r.buffer, static_cast<size_t>(r.bytes), access);
  }
  const wire::Announce announced{reinterpret_cast<uint64_t>(&r),
                                 static_cast<uint64_t>(r.bytes),
                                 readable ? r.registered : MemoryRef{0, MemoryRef::no_key},
                                 world->rank,
                                 static_cast<uint16_t>(readable ? 1 : 0),
                                 r.lane};
  const uint8_t kind = ask ? wire::announce : wire::announce_stream;
  const EventData about{r.peer->rank, r.match.tag, r.bytes, is_internal(r.match)};  // a send to ourselves may be gone
  if (!ask) {  // the receiver must know of the stream before its chunks come
    r.moved = 0;
    r.limit = r.bytes;
    r.target.key = MemoryRef::no_key;
    r.their_lane = static_cast<uint16_t>(r.match.lane);
  }
  if (r.peer->endpoint->send(kind, r.match, &announced, sizeof announced) != transport::Post::done) return false;
  tell_of(Event::rendezvous, about);
  if (!ask) {
    deregister(r);
    Lane& lane = world->lanes[r.lane];
    r.next = lane.streams;
    lane.streams = &r;
    lane.at_work.store(true, std::memory_order_relaxed);
    (void)advance_streams(lane);
  }
  return true;
}

void fetch(Request& r, const Envelope& envelope, const wire::Announce& announced) {
  Peer& peer = world->peer(announced.origin);
  const auto message_bytes = static_cast<int64_t>(announced.bytes);
  const int64_t wanted = message_bytes < r.bytes ? message_bytes : r.bytes;
  const bool own = peer.transport == world->self;
  const bool gaps = r.layout != nullptr || announced.readable == 0;
  if (own && gaps) {
    copy_own(*reinterpret_cast<const Request*>(announced.send), r, wanted);
  } else if (wanted != 0) {
    const bool direct = (announced.memory.key != MemoryRef::no_key || wanted <= get_limit.value() || own) &&
                        (!gaps || wanted >= gaps_from.value());
    if (direct && share(r, envelope, announced, wanted)) return;
    if (direct && !gaps) return read(r, envelope, peer, announced, wanted);
    if (!direct || announced.readable == 0 ||
        get_data(world->lanes[envelope.lane], peer, announced.memory, r, 0, wanted) != 0) {
      return ask_stream(r, envelope, peer, announced.lane, announced.send, message_bytes, wanted);
    }
    // The first read of a peer's memory is the probe: if the kernel refuses it, the message comes by R1.
    peer.readable.store(true, std::memory_order_relaxed);
  }
  const wire::Finished finished{announced.send};
  send_control(peer, announced.lane, wire::finished, &finished, sizeof finished);
  finish_receive(r, envelope, message_bytes);
}

}  // namespace weft::core
