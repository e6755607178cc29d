// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// R0 of large messages, by both sides: the receiver reads chunks from the sender's memory, and a sender that waits
// writes chunks into the receiver's. Who is free takes the next chunk, so the copy takes half the time when both wait
// and no longer than before when one computes. Chunks are taken with a compare-and-swap on a claim slot of the
// receiver.
//
// A receive with gaps is the receiver's to copy alone: the sender does not know where its bytes go. A send with gaps is
// the sender's, who writes into the receiver's memory.
//
// The generation in the claim word makes an old offer harmless: a transfer that is over has left the slot, and a claim
// for it fails. A transfer is over when all its chunks are copied; a chunk that was taken keeps it alive.
#include <algorithm>
#include <bit>
#include <new>

#include "base/setting.hpp"
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

// What both sides know of a transfer.
struct Work {
  transport::Claim* claim;
  uint32_t generation;
  uint32_t chunk;
  int64_t bytes;

  uint32_t chunks() const { return static_cast<uint32_t>((bytes + chunk - 1) / chunk); }
  int64_t position(uint32_t i) const { return int64_t{i} * chunk; }
  int64_t length(uint32_t i) const { return std::min<int64_t>(chunk, bytes - position(i)); }

  // The next chunk nobody has taken; false when there is none.
  bool take(uint32_t* i) const {
    uint64_t next = claim->next.load(std::memory_order_acquire);
    do {
      *i = static_cast<uint32_t>(next);
      if (next >> 32 != generation || *i >= chunks()) return false;
    } while (!claim->next.compare_exchange_weak(next, next + 1, std::memory_order_acq_rel));
    return true;
  }
  // Says that a chunk is copied; whether it was the last. Release and acquire: the last one speaks for all.
  bool put_down() const { return claim->done.fetch_add(1, std::memory_order_acq_rel) + 1 == chunks(); }
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
  uint32_t slot;
  bool pushed;     // the sender copies all
  bool exhausted;  // no chunk left for us to take; the sender copies the last ones, or all
  Pull* next;
};

// The sender's side.
struct Push {
  Work work;
  Request* send;
  Peer* peer;
  uint64_t pull;
  uint32_t their_lane;  // the receiver's
  uint64_t to;
  Push* next;
};

namespace {

// Ends the receiver's side: nobody can take a chunk any more.
void end(Pull* pull) {
  Pull** at = &world->lanes[pull->envelope.lane].pulls;
  while (*at != pull) at = &(*at)->next;
  *at = pull->next;
  pull->work.claim->next.store(uint64_t{pull->work.generation + 1} << 32 | UINT32_MAX, std::memory_order_release);
  delete pull;
}

void finish(Pull* pull) {
  const Pull done = *pull;
  end(pull);
  world->claims_in_use.fetch_and(~(1u << done.slot), std::memory_order_release);
  finish_receive(*done.receive, done.envelope, done.message_bytes);
}

// The kernel refuses: the whole message comes by R1. What the sender copies meanwhile is the same data, and it answers
// only when its copy is over. The slot is not used again: the sender may still count a chunk there.
void give_up(Pull* pull) {
  const Pull lost = *pull;
  end(pull);
  (lost.pushed ? lost.peer->writes : lost.peer->readable).store(false, std::memory_order_relaxed);
  ask_stream(*lost.receive, lost.envelope, *lost.peer, lost.their_lane, lost.send, lost.message_bytes, lost.work.bytes);
}

bool pull_chunk(Lane& lane) {
  Pull* pull = lane.pulls;
  while (pull != nullptr && pull->exhausted) pull = pull->next;
  if (pull == nullptr) return false;
  const Work& work = pull->work;
  uint32_t i;
  if (!work.take(&i)) {
    pull->exhausted = true;
    return false;
  }
  if (get_data(lane, *pull->peer, pull->from, *pull->receive, work.position(i), work.length(i)) != 0) {
    give_up(pull);
  } else if (work.put_down()) {
    const wire::Finished finished{pull->send};
    send_control(*pull->peer, pull->their_lane, wire::finished, &finished, sizeof finished);
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
  const wire::Delivered delivered{push->pull, copied ? 1u : 0u, 0};
  send_control(*push->peer, push->their_lane, wire::delivered, &delivered, sizeof delivered);
  drop_push(lane, send);
  if (copied) complete_send(send, Path::get);
  return true;
}

// A claim slot of ours that nobody uses; claim_slots when there is none.
int take_slot() {
  uint32_t used = world->claims_in_use.load(std::memory_order_relaxed);
  int slot;
  do {
    slot = std::countr_one(used);
    if (slot >= transport::claim_slots) return transport::claim_slots;
  } while (!world->claims_in_use.compare_exchange_weak(used, used | 1u << slot, std::memory_order_acquire,
                                                       std::memory_order_relaxed));
  return slot;
}

}  // namespace

bool share(Request& r, const Envelope& envelope, const wire::Announce& announced, int64_t wanted) {
  Lane& lane = world->lanes[envelope.lane];
  Peer& peer = world->peer(announced.origin);
  const bool pushed = announced.readable == 0;
  const bool gaps = r.layout != nullptr;
  const std::atomic<bool>& works = pushed ? peer.writes : peer.readable;
  if ((pushed && gaps) || !works.load(std::memory_order_relaxed) || wanted < share_from.value() ||
      announced.memory.key != MemoryRef::no_key || !peer.transport->capabilities().claims) {
    return false;
  }
  const int slot = take_slot();
  if (slot >= transport::claim_slots) return false;
  transport::Claim* claim = peer.transport->claim(static_cast<uint32_t>(slot));
  const uint32_t generation = static_cast<uint32_t>(claim->next.load(std::memory_order_relaxed) >> 32) + 1;
  auto* pull = new (std::nothrow) Pull{{claim, generation, chunk_for(wanted), wanted},
                                       &r,
                                       &peer,
                                       announced.memory,
                                       announced.send,
                                       announced.lane,
                                       envelope,
                                       static_cast<int64_t>(announced.bytes),
                                       static_cast<uint32_t>(slot),
                                       pushed,
                                       pushed,
                                       nullptr};
  if (pull == nullptr) {
    world->claims_in_use.fetch_and(~(1u << slot), std::memory_order_release);
    return false;
  }
  claim->done.store(0, std::memory_order_relaxed);
  claim->next.store(uint64_t{generation} << 32, std::memory_order_release);
  Pull** last = &lane.pulls;
  while (*last != nullptr) last = &(*last)->next;
  *last = pull;
  if (!pushed) lane.at_work.store(true, std::memory_order_relaxed);
  if (gaps) return true;
  const wire::Offer offer{announced.send,
                          reinterpret_cast<uint64_t>(pull),
                          reinterpret_cast<uint64_t>(r.buffer),
                          static_cast<uint64_t>(wanted),
                          static_cast<uint16_t>(pull->slot),
                          static_cast<uint16_t>(envelope.lane),
                          generation,
                          pull->work.chunk,
                          world->rank};
  if (pushed) {
    send_control(peer, announced.lane, wire::offer, &offer, sizeof offer);
    return true;
  }
  // An offer is no more than that: when the way is full, we copy alone.
  if (!peer.queued.load(std::memory_order_acquire)) {
    const Envelope to{0, 0, 0, announced.lane};
    (void)(peer.endpoint->send(wire::offer, to, &offer, sizeof offer) == transport::Post::done);
  }
  return true;
}

void on_offer(const transport::Arrival& arrival) {
  const auto offer = payload_of<wire::Offer>(arrival);
  Peer& peer = world->peer(offer.origin);
  auto* send = reinterpret_cast<Request*>(offer.send);
  transport::Claim* claim = peer.endpoint->claim(offer.slot);
  Lane& lane = world->lanes[arrival.envelope.lane];
  Push* push = nullptr;
  if (claim != nullptr && offer.chunk != 0) {
    push = new (std::nothrow) Push{{claim, offer.generation, offer.chunk, static_cast<int64_t>(offer.bytes)},
                                   send,
                                   &peer,
                                   offer.pull,
                                   offer.lane,
                                   offer.address,
                                   lane.pushes};
  }
  if (push == nullptr) {
    if (send->layout == nullptr) return;  // the receiver copies alone
    const wire::Delivered refused{offer.pull, 0, 0};
    return send_control(peer, offer.lane, wire::delivered, &refused, sizeof refused);
  }
  lane.pushes = push;
  lane.at_work.store(true, std::memory_order_relaxed);
}

void on_delivered(const transport::Arrival& arrival) {
  const auto delivered = payload_of<wire::Delivered>(arrival);
  Pull* pull = world->lanes[arrival.envelope.lane].pulls;
  while (pull != nullptr && reinterpret_cast<uint64_t>(pull) != delivered.pull) pull = pull->next;
  if (pull == nullptr) return;  // we gave up before
  if (delivered.done != 0) {
    finish(pull);
  } else {
    give_up(pull);
  }
}

bool share_open(const Lane& lane) {
  const Pull* pull = lane.pulls;
  while (pull != nullptr && pull->exhausted) pull = pull->next;
  return pull != nullptr || lane.pushes != nullptr;
}

bool share_work(Lane& lane) {
  return pull_chunk(lane) || push_chunk(lane);
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
