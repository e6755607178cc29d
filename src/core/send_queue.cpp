// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/send_queue.hpp"

#include <cstdlib>
#include <mutex>
#include <new>

#include "core/comm.hpp"
#include "core/completion.hpp"
#include "core/event.hpp"
#include "core/failure.hpp"
#include "core/path.hpp"

namespace weft::core {

// A message that found the ring or the network full: a request, or a copy of a protocol message.
struct Waiting {
  Waiting* next;
  Request* request;  // nullptr: the payload
  uint32_t lane;
  uint8_t kind;
  uint32_t bytes;
  unsigned char* payload() { return reinterpret_cast<unsigned char*>(this + 1); }
};

namespace {

Waiting* new_waiting(uint32_t payload) {
  void* memory = std::malloc(sizeof(Waiting) + payload);
  if (memory == nullptr) {
    out_of_memory({.cause = "no memory to queue a message whose way is full", .remedy = "free memory on this host"});
  }
  return ::new (memory) Waiting{};
}

// All below holds world->queue_lock.
void append(Peer& peer, Waiting* w) {
  (peer.waiting == nullptr ? peer.waiting : peer.waiting_last->next) = w;
  peer.waiting_last = w;
  peer.queued.store(true, std::memory_order_release);
  peer.close_way();
  if (peer.listed) return;
  peer.listed = true;
  peer.next_waiting = world->peers_waiting.load(std::memory_order_relaxed);
  world->peers_waiting.store(&peer, std::memory_order_relaxed);
}

transport::Post post_control(Peer& peer, uint32_t lane, uint8_t kind, const void* payload, uint32_t bytes) {
  return peer.endpoint->send(kind, {0, peer.our_rank, 0, lane}, payload, bytes);
}

bool try_waiting(Peer& peer, Waiting& w) {
  if (w.request == nullptr) {
    return post_control(peer, w.lane, w.kind, w.payload(), w.bytes) == transport::Post::done;
  }
  // Never wait for a lane while holding the queues.
  LaneGuard guard(world->lanes[w.request->lane], LaneGuard::TryTag{});
  return guard.held() && try_again(*w.request);
}

}  // namespace

void send_control(Peer& peer, uint32_t lane, uint8_t kind, const void* payload, uint32_t bytes) {
  if (peer.lost.load(std::memory_order_relaxed) != 0) [[unlikely]]
    return;
  if (!peer.queued.load(std::memory_order_acquire) &&
      post_control(peer, lane, kind, payload, bytes) == transport::Post::done) {
    return;
  }
  std::lock_guard guard(world->queue_lock);
  count(this_thread().retries);
  Waiting* w = new_waiting(bytes);
  w->lane = lane;
  w->kind = kind;
  w->bytes = bytes;
  __builtin_memcpy(w->payload(), payload, bytes);
  append(peer, w);
}

void queue_send(Request& r) {
  Peer& peer = *r.peer;
  FollowUpLater later;
  std::lock_guard guard(world->queue_lock);
  if (peer.waiting == nullptr && try_again(r)) return;  // the queue has become empty meanwhile
  count(this_thread().retries);
  Waiting* w = new_waiting(0);
  w->request = &r;
  append(peer, w);
  tell_of(Event::queued, {peer.rank, r.match.tag, r.bytes, is_internal(r.match)});
}

bool unqueue(Request& r) {
  std::lock_guard guard(world->queue_lock);
  Waiting* before = nullptr;
  for (Waiting* w = r.peer->waiting; w != nullptr; before = w, w = w->next) {
    if (w->request != &r) continue;
    // The peer stays listed: flush_waiting() drops a peer with nothing left to send.
    (before == nullptr ? r.peer->waiting : before->next) = w->next;
    if (r.peer->waiting_last == w) r.peer->waiting_last = before;
    std::free(w);
    return true;
  }
  return false;
}

int64_t count_waiting(const Peer& peer) {
  std::lock_guard guard(world->queue_lock);
  int64_t count = 0;
  for (const Waiting* w = peer.waiting; w != nullptr; w = w->next) ++count;
  return count;
}

void drop_waiting(Peer& peer) {
  std::lock_guard guard(world->queue_lock);
  while (Waiting* w = peer.waiting) {  // the peer stays listed: flush_waiting() drops it
    peer.waiting = w->next;
    std::free(w);
  }
  peer.queued.store(true, std::memory_order_release);
  peer.close_way();
}

bool flush_waiting() {
  // Nothing below comes back here: the way to ourselves is never full, and no other peer's messages are handled now.
  if (world->concurrent && world->queue_lock.is_taken()) return false;
  FollowUpLater later;
  std::lock_guard guard(world->queue_lock);
  bool sent = false;
  Peer* peer = world->peers_waiting.load(std::memory_order_relaxed);
  Peer* still = nullptr;
  while (peer != nullptr) {
    Peer* const next = peer->next_waiting;
    while (Waiting* w = peer->waiting) {
      if (!try_waiting(*peer, *w)) break;
      peer->waiting = w->next;
      std::free(w);
      sent = true;
    }
    if (peer->waiting == nullptr) {
      peer->listed = false;
      if (peer->lost.load(std::memory_order_relaxed) != 0) {  // its way stays closed
        peer = next;
        continue;
      }
      peer->queued.store(false, std::memory_order_release);
      if (peer->near != nullptr) peer->open_way();
    } else {
      peer->next_waiting = still;
      still = peer;
    }
    peer = next;
  }
  world->peers_waiting.store(still, std::memory_order_relaxed);
  return sent;
}

}  // namespace weft::core
