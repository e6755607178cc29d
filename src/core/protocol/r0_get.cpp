// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// R0: the sender's RTS says where the data lie, the receiver reads them from there: from the shared heap, from private
// memory through the kernel, or from registered memory of another host. One copy. Unreadable data come by R1.
//
//   rts   sender to receiver: where the data lie. The answer is a FIN, help (r0_share.cpp) or a CTS (r1_stream.cpp)
//   fin   receiver to sender: the data are there
//
// The receiver takes the first method of get_methods that suits: answer_rts() is the only place that chooses.
#include <algorithm>
#include <cstring>

#include "base/clock.hpp"
#include "base/setting.hpp"
#include "core/lane/lane.hpp"
#include "core/object/comm.hpp"
#include "core/object/event.hpp"
#include "core/object/failure.hpp"
#include "core/object/identity.hpp"
#include "core/object/settings.hpp"
#include "core/peer/peer.hpp"
#include "core/protocol/protocol.hpp"
#include "device/api/traffic.hpp"
#include "transport/api/device_memory.hpp"

namespace weft::core {

const PathInfo get_info = {"R0 get", "the sender announces, the receiver reads the sender's memory",
                           "one copy, a handshake"};

namespace {

// No limit by default: R0 needs no help of a sender that computes, and while both sides are in a call the receiver
// chooses by time (docs/measurements/choices.md, "How data cross cores"). WEFT_R0_LIMIT=4M gives the ranges that suit
// transfer engines between hosts.
constinit base::IntSetting get_limit{{.name = "WEFT_R0_LIMIT",
                                      .help = "largest message read from the sender's private memory (R0); above: R1",
                                      .unit = base::Unit::bytes,
                                      .level = base::SettingLevel::basic,
                                      .subject = base::Subject::messages,
                                      .change = base::Change::always},
                                     int64_t{1} << 40,
                                     {0, int64_t{1} << 40}};
WEFT_SETTING(get_limit);

// Between cores far from each other R0 moved 4 MiB with gaps at one end at 4 to 8 GB/s and R1 at 3 to 3.5, but 128 KiB
// at 6 and R1 at 7; between cores that share a cache R1 is faster at any size.
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
     .level = base::SettingLevel::basic,
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

namespace {

// Whether an adapter of the network may reach the data of a request in memory of a device.
bool may_go_straight(const Request& r, const Peer& peer) {
  return r.flags.on_device && r.layout != nullptr && r.layout->contiguous &&
         (peer.transport->capabilities().memory & transport::device_memory) != 0;
}

}  // namespace

bool may_stream(int64_t bytes) {
  return bytes <= get_limit.value() && identity->job.local_ranks <= identity->job.local_cpus;
}

// Messages that come together take the time of each other: only one that comes alone is timed.
void note_begin(Request& r, const Lane& lane, transport::Way way) {
  r.way = way;
  r.began_ns = way != transport::Way::other && lane.pulls == nullptr && lane.inflows == nullptr ? base::now_ns() : 0;
}

void note_end(const Request& r, const Peer& source, int64_t bytes) {
  if (r.way == transport::Way::other || r.began_ns == 0) return;
  source.endpoint->note_message(r.way, static_cast<size_t>(bytes), base::now_ns() - r.began_ns);
}

namespace {

// Streamed messages up to so many bytes follow their RTS at once: the handshake took a sixth of the time of 64 KiB
// (docs/measurements/choices.md, "How data cross cores").
constexpr int64_t most_unasked = 128 << 10;

// While the receiver takes streams, few of them ask whether it still does.
bool is_sent_unasked(const Request& r) {
  constexpr uint32_t asks_of = 32;
  static std::atomic<uint32_t> turn = 0;
  return r.bytes <= most_unasked && r.peer->endpoint->way(static_cast<size_t>(r.bytes)) == transport::Way::cells &&
         turn.fetch_add(1, std::memory_order_relaxed) % asks_of != asks_of - 1;
}

}  // namespace

bool send_rts(Request& r) {
  const bool readable = r.layout == nullptr || may_go_straight(r, *r.peer);
  const bool must_ask = r.mode == Mode::synchronous || r.peer->endpoint->congested();
  bool ask = must_ask || rendezvous.value();
  // A send that found the way full has registered its memory already.
  if (readable && r.registered.key == MemoryRef::no_key) {
    const auto access = ask && r.bytes <= get_limit.value() ? transport::Access::read : transport::Access::named;
    r.registered = r.peer->transport->register_memory(r.buffer, static_cast<size_t>(r.bytes), access);
  }
  r.asks_way = ask && readable && r.flags.awaited && r.registered.key == MemoryRef::no_key && may_stream(r.bytes);
  if (r.asks_way && is_sent_unasked(r)) ask = must_ask;
  const bool on_device = r.flags.on_device && ask && r.registered.key == MemoryRef::no_key;
  wire::RtsOnDevice announced{};
  announced.rts = {give_number(r),
                   static_cast<uint64_t>(r.bytes),
                   readable ? r.registered : MemoryRef{reinterpret_cast<uintptr_t>(r.buffer), MemoryRef::no_key},
                   r.peer->our_rank,
                   on_device    ? wire::Rts::on_device
                   : !readable  ? wire::Rts::with_gaps
                   : r.asks_way ? wire::Rts::may_stream
                                : wire::Rts::in_one_piece,
                   r.lane};
  if (on_device && !(goes_by_device(r) && device::active->share(r.buffer, announced.allocation).empty()))
    announced.allocation.bytes = 0;
  const EventData about{r.peer->rank, r.match.tag, r.bytes, is_internal(r.match)};  // a send to ourselves may be gone
  if (!ask) {
    enter_stage(r, NumberStage::streaming);
    r.limit = r.bytes;
    r.target.key = MemoryRef::no_key;
    r.their_lane = static_cast<uint16_t>(r.match.lane);
  }
  const uint8_t kind = ask ? wire::rts : wire::rts_stream;
  const uint32_t bytes = on_device ? sizeof announced : sizeof announced.rts;
  if (r.peer->endpoint->send(kind, r.match, &announced, bytes) != transport::Post::done) return false;
  tell_of(Event::rendezvous, about);
  if (!ask) {  // the receiver knows of the stream before its chunks come
    deregister(r);
    start_stream(r);
    (void)advance_streams(lanes->all[r.lane]);
  }
  return true;
}

void send_fin(Peer& peer, uint32_t lane, uint64_t send) {
  const wire::Fin fin{send};
  send_control(peer, lane, wire::fin, &fin, sizeof fin);
}

// ---- receiving

namespace {

// Messages from the host's memory into a device's are read in large chunks from here on.
constexpr int64_t device_from = 64 << 10, device_at_once = 16 << 20;

[[gnu::cold, noreturn]] void reject_own(const wire::Rts& rts) {
  failed(FailureCause::protocol, rts.origin,
         {.cause = "an RTS of this rank to itself names no send of its own",
          .remedy = "this is a defect of Weft: please report it with the program"});
}

}  // namespace

// A matched RTS, and the receive that its data are for.
struct Rendezvous {
  Request& receive;
  const Envelope& envelope;
  const void* data;  // the RTS as it came
  wire::RtsOnDevice announced;
  Peer& peer;
  int64_t message_bytes;
  int64_t wanted;

  Rendezvous(Request& r, const Envelope& from, const void* rts)
      : receive(r),
        envelope(from),
        data(rts),
        announced(read_rts(rts)),
        peer(peers->of(announced.rts.origin)),
        message_bytes(static_cast<int64_t>(announced.rts.bytes)),
        wanted(std::min(message_bytes, r.bytes)) {}

  const wire::Rts& rts() const { return announced.rts; }
  bool own() const { return peer.transport->capabilities().same_process; }
  bool from_device() const { return rts().readable == wire::Rts::on_device; }
  bool gaps() const { return receive.layout != nullptr || rts().readable == wire::Rts::with_gaps || from_device(); }

  // Whether one side copies between the two memories.
  bool direct() const {
    const int64_t gaps_least = receive.flags.on_device ? device_from : gaps_from.value();
    return !from_device() && (rts().memory.key != MemoryRef::no_key || wanted <= get_limit.value() || own()) &&
           (!gaps() || wanted >= gaps_least);
  }
  // The data are there: the sender and the receive learn of it.
  bool finish() const {
    send_fin(peer, rts().lane, rts().send);
    finish_receive(receive, envelope, message_bytes);
    return true;
  }

 private:
  static wire::RtsOnDevice read_rts(const void* data) {
    wire::RtsOnDevice announced{};
    std::memcpy(&announced.rts, data, sizeof announced.rts);
    if (announced.rts.readable == wire::Rts::on_device) std::memcpy(&announced, data, sizeof announced);
    return announced;
  }
};

namespace {

// ---- The methods. Each begins, and does what there is to do at once; false: it does not suit, and nothing has
// changed.

bool copy_in_process(const Rendezvous& m) {
  if (m.wanted != 0 && !(m.own() && m.gaps())) return false;
  if (m.wanted != 0) {
    const Request* send = find_request(m.rts().send, NumberStage::asked);
    if (send == nullptr) reject_own(m.rts());
    copy_own(*send, m.receive, m.wanted);
    note_failed_copy(m.receive);
  }
  return m.finish();
}

bool copy_on_device(const Rendezvous& m) {
  return m.from_device() && load(m.receive, m.envelope, m.peer, m.rts(), m.announced.allocation, m.wanted);
}

bool read_by_adapter(const Rendezvous& m) {
  const wire::Rts& rts = m.rts();
  if (rts.readable != wire::Rts::in_one_piece || rts.memory.key == MemoryRef::no_key ||
      !may_go_straight(m.receive, m.peer)) {
    return false;
  }
  read(m.receive, m.envelope, m.peer, rts, m.wanted);
  return true;
}

void answer_rts(Request& r, const Envelope& envelope, const void* data);

bool read_into_pinned_memory(const Rendezvous& m) {
  if (!m.receive.flags.on_device || m.own() || m.from_device()) return false;
  Request* const inner = land(m.receive, m.envelope, m.peer, m.message_bytes, m.wanted);
  if (inner == nullptr) return false;
  answer_rts(*inner, m.envelope, m.data);
  return true;
}

bool ask_for_stream(const Rendezvous& m) {
  send_cts(m.receive, m.envelope, m.peer, m.rts().lane, m.rts().send, m.message_bytes, m.wanted);
  return true;
}

bool stream_by_choice(const Rendezvous& m) {
  const bool may_choose = m.rts().readable == wire::Rts::may_stream && !m.gaps() && !m.own() && may_stream(m.wanted);
  const transport::Way way =
      may_choose ? m.peer.endpoint->next_way(static_cast<size_t>(m.wanted)) : transport::Way::other;
  note_begin(m.receive, lanes->all[m.envelope.lane], way);
  return way == transport::Way::cells && ask_for_stream(m);
}

bool copy_by_both(const Rendezvous& m) {
  // The processor is occupied with a copy to a device as long as it lasts: much at once would hold up the lane.
  const bool at_once = m.receive.flags.on_device && m.wanted <= device_at_once;
  return m.direct() && !at_once && share(m.receive, m.envelope, m.rts(), m.wanted);
}

bool read_in_one_piece(const Rendezvous& m) {
  if (!m.direct() || m.gaps()) return false;
  read(m.receive, m.envelope, m.peer, m.rts(), m.wanted);
  return true;
}

bool read_with_gaps(const Rendezvous& m) {
  if (!m.direct() || m.rts().readable == wire::Rts::with_gaps ||
      get_data(lanes->all[m.envelope.lane], m.peer, m.rts().memory, m.receive, 0, m.wanted) != 0 ||
      note_failed_copy(m.receive)) {
    return false;
  }
  // The first read of a peer's memory is the probe: if the kernel refuses it, the message comes by R1.
  m.peer.readable.store(true, std::memory_order_relaxed);
  return m.finish();
}

constexpr GetMethod rows[] = {
    {"copy in the process", "the process itself, with gaps or on a device", "one copy", copy_in_process},
    {"device copy", "data on a device whose allocation the receiver maps", "one copy by the device", copy_on_device},
    {"adapter", "a receive on a device that the network's adapter reaches", "one transfer, no copy", read_by_adapter},
    {"pinned memory", "a receive on a device, 256 KiB to 16 MiB from a host's memory", "two copies at the same time",
     read_into_pinned_memory},
    {"stream by choice", "a sender that waits, where cells are faster (WEFT_CROSSING)", "two copies at the same time",
     stream_by_choice},
    {"copy by both", "from WEFT_SHARE_FROM on, gaps at one end at most", "one copy, shared by both sides",
     copy_by_both},
    {"single copy", "no gaps, up to WEFT_R0_LIMIT", "one copy by the receiver", read_in_one_piece},
    {"copy of runs", "gaps of the receive, from WEFT_R0_GAPS_FROM on", "one copy of large runs, two of small ones",
     read_with_gaps},
    {"stream", "all others, and memory that cannot be read: R1", "two copies at the same time", ask_for_stream},
};

// Brings the data of a matched RTS into its receive. The RTS has been looked at when it came.
void answer_rts(Request& r, const Envelope& envelope, const void* data) {
  const Rendezvous message(r, envelope, data);
  for (const GetMethod& method : rows) {
    if (method.begin(message)) return;
  }
}

void on_rts(const transport::Arrival& a) {
  const wire::Rts rts = rts_of(a);
  if (Request* r = match(a)) return answer_rts(*r, a.envelope, a.data);
  keep(a.envelope, wire::rts, a.data, a.bytes, static_cast<int64_t>(rts.bytes));
}

bool consume_rts(Request& r, Unexpected& message) {
  answer_rts(r, message.envelope, message.data());
  return false;
}

constinit const Handler rts_handler{
    .kind = wire::rts, .least_bytes = sizeof(wire::Rts), .name = "RTS", .take = on_rts, .consume = consume_rts};
WEFT_HANDLER(rts_handler);

// Also of a synchronous send by E0.
void on_fin(const transport::Arrival& a) {
  Request* r = answered(a, payload_of<wire::Fin>(a).send);
  if (r == nullptr) return;
  take_number(*r);
  drop_push(lane_of(a), *r);
  const bool announced = r->bytes > peers->mailbox_limit;
  if (announced && r->asks_way) r->peer->endpoint->note_answer(transport::Way::kernel, static_cast<size_t>(r->bytes));
  if (r->flags.on_device && r->registered.key != MemoryRef::no_key)
    device::count(device::CopyMethod::straight, r->bytes);
  deregister(*r);
  complete_send(*r, r->bytes <= peers->mailbox_limit ? Path::mailbox : Path::get);
}

constinit const Handler fin_handler{.kind = wire::fin, .least_bytes = sizeof(wire::Fin), .name = "FIN", .take = on_fin};
WEFT_HANDLER(fin_handler);

}  // namespace

const std::span<const GetMethod> get_methods = rows;

}  // namespace weft::core
