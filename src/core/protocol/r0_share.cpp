// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// R0 of large messages, by both sides: the receiver reads chunks from the sender's memory, and a sender that waits
// writes chunks into the receiver's. Whichever is free takes the next chunk, so the copy takes half the time when both
// wait and no longer than before when one computes. Chunks are taken with a compare-and-swap on a claim slot of the
// receiver.
//
// A receive with gaps is the receiver's to copy alone: the sender does not know where its bytes go. A send with gaps is
// the sender's, which writes into the receiver's memory.
//
// The generation in the claim word makes late help harmless: a transfer that is over has left the slot, and a claim for
// it fails. A transfer is over when all its chunks are copied; a chunk that was taken keeps it alive.
//
// A sender that waits takes all chunks where a stream is faster (transport::Way) and the receiver has taken none yet,
// and streams them (r1_stream.cpp). The receiver leaves it a moment for that, and more while it streams other messages.
//
//   help    receiver to sender, after its RTS: which slot, and where the receiver's buffer is
//   helped  sender to receiver: the sender copied the last chunk, or could not copy one
//
// A receiver that copied the last chunk sends a FIN (r0_get.cpp); one that cannot go on sends a CTS (r1_stream.cpp).
#include <algorithm>
#include <bit>
#include <new>

#include "base/clock.hpp"
#include "base/setting.hpp"
#include "core/lane/lane.hpp"
#include "core/peer/peer.hpp"
#include "core/protocol/protocol.hpp"

namespace weft::core {

namespace {

constinit base::IntSetting share_from{{.name = "WEFT_SHARE_FROM",
                                       .help = "smallest message (R0) that sender and receiver copy together",
                                       .unit = base::Unit::bytes,
                                       .subject = base::Subject::messages,
                                       .change = base::Change::always},
                                      32 << 10,
                                      {4 << 10, int64_t{1} << 40}};
WEFT_SETTING(share_from);

// A system call per chunk costs as much as copying about 8 KiB; few chunks leave one side waiting for the other.
uint32_t chunk_for(int64_t bytes) {
  constexpr int64_t smallest = 32 << 10;
  constexpr int64_t largest = 256 << 10;
  return static_cast<uint32_t>(std::clamp((bytes / 4 + 4095) & ~int64_t{4095}, smallest, largest));
}

// The time that a sender which would stream has to take all, before the receiver takes a chunk: about as long as the
// copy by the receiver alone takes, so that waiting in vain costs as much again at most; and no longer than a sender
// that is in MPI needs to come to it.
uint64_t patience_ns(int64_t bytes) {
  constexpr int64_t bytes_of_ns = 16;
  constexpr int64_t most = 20000;
  return static_cast<uint64_t>(std::min(bytes / bytes_of_ns, most));
}

// The knowledge of both sides of a transfer.
struct Work {
  transport::Claim* claim;
  uint32_t generation;
  uint32_t chunk;
  int64_t bytes;

  uint32_t chunks() const { return static_cast<uint32_t>((bytes + chunk - 1) / chunk); }
  int64_t position(uint32_t i) const { return int64_t{i} * chunk; }
  int64_t length(uint32_t i) const { return std::min<int64_t>(chunk, bytes - position(i)); }

  // The next chunk nobody has taken; false when there is none.
  bool take(uint32_t* i) const { return claim->take(generation, chunks(), i); }
  // Says that a chunk is copied; whether it was the last.
  bool put_down() const { return claim->put_down(chunks()); }
};

}  // namespace

// The receiver's side.
struct Pull {
  Work work;
  Request* receive;
  Peer* peer;
  MemoryRef from;
  uint64_t send;
  uint32_t their_lane;  // the sender's, for answers
  Envelope envelope;
  int64_t message_bytes;
  uint64_t number;  // by which the sender names it
  uint32_t slot;
  bool pushed;                // the sender copies all
  uint64_t patient_until_ns;  // until then the sender copies alone; 0: we take chunks too
  bool exhausted;             // no chunk left for us to take; the sender copies the last ones, or all
  Pull* next;
};

// The sender's side.
struct Push {
  Work work;
  Request* send;
  Peer* peer;
  uint64_t pull;        // the receiver's number of it
  uint32_t their_lane;  // the receiver's
  uint64_t to;
  Push* next;
};

namespace {

// Ends the receiver's side: nobody can take a chunk any more.
void end(Pull* pull) {
  Pull** at = &lanes->all[pull->envelope.lane].pulls;
  while (*at != pull) at = &(*at)->next;
  *at = pull->next;
  pull->work.claim->end(pull->work.generation);
  delete pull;
}

void finish(Pull* pull) {
  const Pull done = *pull;
  end(pull);
  lanes->claims_in_use.fetch_and(~(1u << done.slot), std::memory_order_release);
  note_end(*done.receive, *done.peer, done.work.bytes);
  finish_receive(*done.receive, done.envelope, done.message_bytes);
}

// The kernel refuses: the whole message comes by R1. The sender meanwhile copies the same data, and it answers
// only when its copy is over. The slot is not used again: the sender may still count a chunk there.
void give_up(Pull* pull) {
  const Pull lost = *pull;
  end(pull);
  (lost.pushed ? lost.peer->writes : lost.peer->readable).store(false, std::memory_order_relaxed);
  send_cts(*lost.receive, lost.envelope, *lost.peer, lost.their_lane, lost.send, lost.message_bytes, lost.work.bytes);
}

bool pull_chunk(Lane& lane) {
  Pull* pull = lane.pulls;
  while (pull != nullptr && pull->exhausted) pull = pull->next;
  if (pull == nullptr) return false;
  if (pull->patient_until_ns != 0) {
    if (count_streams_in(lane, *pull->peer) != 0 || base::now_ns() < pull->patient_until_ns) return false;
    pull->patient_until_ns = 0;
    pull->receive->way = transport::Way::other;  // the sender did not come: this is no time of either way
  }
  const Work& work = pull->work;
  uint32_t i;
  if (!work.take(&i)) {
    pull->exhausted = true;
    return false;
  }
  if (get_data(lane, *pull->peer, pull->from, *pull->receive, work.position(i), work.length(i)) != 0) {
    give_up(pull);
  } else if (work.put_down()) {
    send_fin(*pull->peer, pull->their_lane, pull->send);
    finish(pull);
  }
  return true;
}

bool push_chunk(Lane& lane) {
  Push* push = lane.pushes;
  if (push == nullptr) return false;
  const Work& work = push->work;
  Request& send = *push->send;
  uint32_t i;
  if (!work.take(&i)) {
    drop_push(lane, send);  // the receiver copies the last chunks, and will say so
    return false;
  }
  const MemoryRef to{push->to, MemoryRef::no_key};
  const bool copied = put_data(lane, *push->peer, to, send, work.position(i), work.length(i)) == 0;
  if (copied && !work.put_down()) return true;
  const wire::Helped helped{push->pull, copied ? 1u : 0u, 0};
  send_control(*push->peer, push->their_lane, wire::helped, &helped, sizeof helped);
  drop_push(lane, send);
  if (!copied) return true;
  take_number(send);
  complete_send(send, Path::get);
  return true;
}

// A claim slot of ours that nobody uses; claim_slots when there is none.
int take_slot() {
  uint32_t used = lanes->claims_in_use.load(std::memory_order_relaxed);
  int slot;
  do {
    slot = std::countr_one(used);
    if (slot >= transport::claim_slots) return transport::claim_slots;
  } while (!lanes->claims_in_use.compare_exchange_weak(used, used | 1u << slot, std::memory_order_acquire,
                                                       std::memory_order_relaxed));
  return slot;
}

}  // namespace

bool share(Request& r, const Envelope& envelope, const wire::Rts& rts, int64_t wanted) {
  Lane& lane = lanes->all[envelope.lane];
  Peer& peer = peers->of(rts.origin);
  const bool pushed = rts.readable == wire::Rts::with_gaps;
  const bool gaps = r.layout != nullptr;
  const std::atomic<bool>& works = pushed ? peer.writes : peer.readable;
  if ((pushed && gaps) || !works.load(std::memory_order_relaxed) || wanted < share_from.value() ||
      rts.memory.key != MemoryRef::no_key || !peer.transport->capabilities().claims) {
    return false;
  }
  const bool asked = r.way != transport::Way::other;  // the sender left the choice to us, and this was it
  if (!asked && !pushed && !gaps && may_stream(wanted)) {
    note_begin(r, lane, peer.endpoint->next_way(static_cast<size_t>(wanted)));
  }
  const bool streams = !asked && r.way == transport::Way::cells;
  const int slot = take_slot();
  if (slot >= transport::claim_slots) {  // a sender that streams will soon stream this message too
    if (!streams || count_streams_in(lane, peer) == 0) {
      r.way = transport::Way::other;  // we copy alone
      return false;
    }
    send_cts(r, envelope, peer, rts.lane, rts.send, static_cast<int64_t>(rts.bytes), wanted);
    return true;
  }
  transport::Claim* claim = peer.transport->claim(static_cast<uint32_t>(slot));
  auto* pull = new (std::nothrow) Pull{{claim, 0, chunk_for(wanted), wanted},
                                       &r,
                                       &peer,
                                       rts.memory,
                                       rts.send,
                                       rts.lane,
                                       envelope,
                                       static_cast<int64_t>(rts.bytes),
                                       lane.pulls_begun + 1,
                                       static_cast<uint32_t>(slot),
                                       pushed,
                                       streams ? base::now_ns() + patience_ns(wanted) : 0,
                                       pushed,
                                       nullptr};
  if (pull == nullptr) {
    lanes->claims_in_use.fetch_and(~(1u << slot), std::memory_order_release);
    return false;
  }
  ++lane.pulls_begun;
  pull->work.generation = claim->begin();
  Pull** last = &lane.pulls;
  while (*last != nullptr) last = &(*last)->next;
  *last = pull;
  if (!pushed) lane.at_work.store(true, std::memory_order_relaxed);
  if (gaps) return true;
  const wire::Help help{rts.send,
                        pull->number,
                        reinterpret_cast<uint64_t>(r.buffer),
                        static_cast<uint64_t>(wanted),
                        static_cast<uint8_t>(pull->slot),
                        static_cast<uint8_t>(streams ? 1 : 0),
                        static_cast<uint16_t>(envelope.lane),
                        pull->work.generation,
                        pull->work.chunk,
                        peer.our_rank};
  if (pushed) {
    send_control(peer, rts.lane, wire::help, &help, sizeof help);
    return true;
  }
  // Help is not needed: when the way is full, we copy alone.
  if (!peer.queues_on(rts.lane)) {
    const Envelope to{0, peer.our_rank, 0, rts.lane};
    (void)(peer.endpoint->send(wire::help, to, &help, sizeof help) == transport::Post::done);
  }
  return true;
}

namespace {

void on_help(const transport::Arrival& arrival) {
  const auto help = payload_of<wire::Help>(arrival);
  Peer& peer = sender_of(arrival, help.origin, help.lane);
  Request* send = answered(arrival, help.send);
  if (send == nullptr) return;
  transport::Claim* claim = peer.endpoint->claim(help.slot);
  Lane& lane = lane_of(arrival);
  drop_push(lane, *send);  // it has none but of a peer that asks twice
  Push* push = nullptr;
  if (claim != nullptr && help.chunk != 0 && help.bytes <= static_cast<uint64_t>(send->bytes)) {
    const Work work{claim, help.generation, help.chunk, static_cast<int64_t>(help.bytes)};
    const bool streams = help.may_stream != 0 && send->layout == nullptr && is_awaited(*send) &&
                         send->registered.key == MemoryRef::no_key;
    if (send->asks_way) peer.endpoint->note_answer(transport::Way::kernel, static_cast<size_t>(send->bytes));
    if (streams && claim->take_all(help.generation, work.chunks())) {
      return stream_to(*send, work.bytes, {0, MemoryRef::no_key}, help.lane);
    }
    push = new (std::nothrow) Push{work, send, &peer, help.pull, help.lane, help.address, lane.pushes};
  }
  if (push == nullptr) {
    if (send->layout == nullptr) return;  // the receiver copies alone
    const wire::Helped refused{help.pull, 0, 0};
    return send_control(peer, help.lane, wire::helped, &refused, sizeof refused);
  }
  lane.pushes = push;
  lane.at_work.store(true, std::memory_order_relaxed);
}

constinit const Handler help_handler{
    .kind = wire::help, .least_bytes = sizeof(wire::Help), .name = "R0 help", .take = on_help};
WEFT_HANDLER(help_handler);

void on_helped(const transport::Arrival& arrival) {
  const auto helped = payload_of<wire::Helped>(arrival);
  Pull* pull = is_from(arrival, arrival.envelope.source) ? lane_of(arrival).pulls : nullptr;
  while (pull != nullptr && (pull->number != helped.pull || pull->peer->rank != arrival.envelope.source)) {
    pull = pull->next;
  }
  if (pull == nullptr) return count(lane_of(arrival).stale);  // we gave up before
  if (helped.done != 0) {
    finish(pull);
  } else {
    give_up(pull);
  }
}

constinit const Handler helped_handler{
    .kind = wire::helped, .least_bytes = sizeof(wire::Helped), .name = "R0 helped", .take = on_helped};
WEFT_HANDLER(helped_handler);

// Whether there is a chunk that we may copy.
bool share_open(const Lane& lane) {
  const Pull* pull = lane.pulls;
  while (pull != nullptr && pull->exhausted) pull = pull->next;
  return pull != nullptr || lane.pushes != nullptr;
}

// Copies one chunk of a message we receive, or else of one we send; whether there was any.
bool share_work(Lane& lane) {
  return pull_chunk(lane) || push_chunk(lane);
}

constinit const ProgressHook sharing{"R0 help", share_work, share_open, [](Lane&) {}};
WEFT_PROGRESS_HOOK(sharing);

}  // namespace

bool hand_over(Lane& lane, int32_t origin, uint64_t send, Handed& over) {
  Pull* pull = lane.pulls;
  while (pull != nullptr && (pull->send != send || pull->peer->rank != origin)) pull = pull->next;
  if (pull == nullptr || pull->pushed) return false;
  over = {pull->receive, pull->envelope, pull->message_bytes, pull->work.bytes};
  const uint32_t slot = pull->slot;
  end(pull);
  lanes->claims_in_use.fetch_and(~(1u << slot), std::memory_order_release);
  return true;
}

int64_t count_shares(const Lane& lane, const Peer& peer) {
  int64_t count = 0;
  for (const Pull* pull = lane.pulls; pull != nullptr; pull = pull->next) {
    if (pull->peer == &peer) ++count;
  }
  return count;
}

// The lost peer may have been in the middle of a chunk: the slot is not used again.
void end_shares(Lane& lane, const Peer& peer, std::vector<Request*>& ended) {
  for (Pull* pull = lane.pulls; pull != nullptr;) {
    Pull* const next = pull->next;
    if (pull->peer == &peer) {
      ended.push_back(pull->receive);
      end(pull);
    }
    pull = next;
  }
}

void drop_push(Lane& lane, const Request& send) {
  for (Push** at = &lane.pushes; *at != nullptr; at = &(*at)->next) {
    if ((*at)->send != &send) continue;
    Push* push = *at;
    *at = push->next;
    delete push;
    return;
  }
}

}  // namespace weft::core
