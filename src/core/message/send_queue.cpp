// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/message/send_queue.hpp"

#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

#include "base/copy.hpp"
#include "core/lane/lane.hpp"
#include "core/message/completion.hpp"
#include "core/message/path.hpp"
#include "core/object/comm.hpp"
#include "core/object/event.hpp"
#include "core/object/failure.hpp"
#include "core/peer/peer.hpp"
#include "core/thread/thread.hpp"

namespace weft::core {

// A message that found the ring or the network full: a request, or a copy of a protocol message.
struct WaitingMessage {
  WaitingMessage* next;
  Request* request;  // nullptr: the payload is sent
  Envelope envelope;
  uint8_t kind;
  uint32_t bytes;
  unsigned char* payload() { return reinterpret_cast<unsigned char*>(this + 1); }
};

namespace {

WaitingMessage* new_waiting(uint32_t payload) {
  void* memory = std::malloc(sizeof(WaitingMessage) + payload);
  if (memory == nullptr) {
    failed(FailureCause::memory,
           {.cause = "no memory to queue a message whose way is full", .remedy = "free memory on this host"});
  }
  return ::new (memory) WaitingMessage{};
}

uint64_t bit_of(uint32_t place) {
  return uint64_t{1} << place;
}

// A peer's queue of one lane, and the lock of its place.
class LockedQueue {
 public:
  LockedQueue(Peer& peer, uint32_t lane)
      : peer_(peer), place_(lane & peer.queue_mask), guard_(peers->send_queues[place_].lock) {}

  SendQueue& queue() { return peer_.queues[place_]; }

  void append(WaitingMessage* w) {
    SendQueue& q = queue();
    (q.first == nullptr ? q.first : q.last->next) = w;
    q.last = w;
    peer_.queued.fetch_or(bit_of(place_), std::memory_order_release);
    peer_.close_way();
    if (q.listed) return;
    q.listed = true;
    q.peer = &peer_;
    q.next = std::exchange(peers->send_queues[place_].first, &q);
    peers->queues_waiting.fetch_or(bit_of(place_), std::memory_order_relaxed);
  }

 private:
  Peer& peer_;
  const uint32_t place_;
  const std::lock_guard<base::Lock> guard_;
};

bool try_waiting(Peer& peer, WaitingMessage& w) {
  if (w.request == nullptr) {
    return peer.endpoint->send(w.kind, w.envelope, w.payload(), w.bytes) == transport::Post::done;
  }
  // Never wait for a lane while holding the queues.
  LaneGuard guard(lanes->all[w.request->lane], LaneGuard::TryTag{});
  return guard.held() && try_again(*w.request);
}

}  // namespace

void send_or_queue(Peer& peer, const Envelope& envelope, uint8_t kind, const void* payload, uint32_t bytes) {
  if (peer.lost.load(std::memory_order_relaxed) != 0) [[unlikely]]
    return;
  if (!peer.queues_on(envelope.lane) && peer.endpoint->send(kind, envelope, payload, bytes) == transport::Post::done) {
    return;
  }
  LockedQueue place(peer, envelope.lane);
  count(this_thread().retries);
  WaitingMessage* w = new_waiting(bytes);
  w->envelope = envelope;
  w->kind = kind;
  w->bytes = bytes;
  base::copy(w->payload(), payload, bytes);
  place.append(w);
}

void send_control(Peer& peer, uint32_t lane, uint8_t kind, const void* payload, uint32_t bytes) {
  send_or_queue(peer, {0, peer.our_rank, 0, lane}, kind, payload, bytes);
}

void queue_send(Request& r) {
  Peer& peer = *r.peer;
  FollowUpLater later;
  LockedQueue place(peer, r.match.lane);
  if (place.queue().first == nullptr && try_again(r)) return;  // the queue has become empty meanwhile
  count(this_thread().retries);
  WaitingMessage* w = new_waiting(0);
  w->request = &r;
  place.append(w);
  tell_of(Event::queued, {peer.rank, r.match.tag, r.bytes, is_internal(r.match)});
}

bool unqueue(Request& r) {
  LockedQueue place(*r.peer, r.match.lane);
  SendQueue& q = place.queue();
  WaitingMessage* before = nullptr;
  for (WaitingMessage* w = q.first; w != nullptr; before = w, w = w->next) {
    if (w->request != &r) continue;
    // The queue stays listed: flush_waiting() drops one with nothing left to send.
    (before == nullptr ? q.first : before->next) = w->next;
    if (q.last == w) q.last = before;
    std::free(w);
    return true;
  }
  return false;
}

int64_t count_waiting(Peer& peer) {
  int64_t count = 0;
  for (uint32_t i = 0; i <= peer.queue_mask; ++i) {
    LockedQueue place(peer, i);
    for (const WaitingMessage* w = place.queue().first; w != nullptr; w = w->next) ++count;
  }
  return count;
}

void drop_waiting(Peer& peer) {
  for (uint32_t i = 0; i <= peer.queue_mask; ++i) {
    LockedQueue place(peer, i);
    SendQueue& q = place.queue();
    while (WaitingMessage* w = q.first) {  // the queue stays listed: flush_waiting() drops it
      q.first = w->next;
      std::free(w);
    }
  }
  peer.queued.store(~uint64_t{0}, std::memory_order_release);
  peer.close_way();
}

void forget_peer(int32_t job_rank) {
  Peer* const gone = peers->find(job_rank);
  if (gone == &PeerTable::unconnected) return;
  drop_waiting(*gone);
  for (uint32_t i = 0; i <= gone->queue_mask; ++i) {
    LockedQueue place(*gone, i);
    for (SendQueue** at = &peers->send_queues[i].first; *at != nullptr; at = &(*at)->next) {
      if (*at != &place.queue()) continue;
      *at = (*at)->next;
      break;
    }
  }
  peers->forget(job_rank);
}

bool flush_waiting(uint32_t place) {
  SendQueues& queues = peers->send_queues[place];
  // Nothing below comes back here: the way to ourselves is never full, and no other peer's messages are handled now.
  if (threads->concurrent && queues.lock.is_taken()) return false;
  FollowUpLater later;
  std::lock_guard guard(queues.lock);
  bool sent = false;
  for (SendQueue** at = &queues.first; *at != nullptr;) {
    SendQueue& q = **at;
    Peer& peer = *q.peer;
    while (WaitingMessage* w = q.first) {
      if (!try_waiting(peer, *w)) break;
      q.first = w->next;
      std::free(w);
      sent = true;
    }
    if (q.first != nullptr) {
      at = &q.next;
      continue;
    }
    *at = q.next;
    q.listed = false;
    if (peer.lost.load(std::memory_order_relaxed) != 0) continue;  // its way stays closed
    peer.queued.fetch_and(~bit_of(place), std::memory_order_release);
    if (peer.near != nullptr) peer.open_way();
  }
  if (queues.first == nullptr) peers->queues_waiting.fetch_and(~bit_of(place), std::memory_order_relaxed);
  return sent;
}

bool flush_waiting() {
  bool sent = false;
  for (uint64_t left = peers->queues_waiting.load(std::memory_order_relaxed); left != 0; left &= left - 1) {
    sent |= flush_waiting(static_cast<uint32_t>(std::countr_zero(left)));
  }
  return sent;
}

}  // namespace weft::core
