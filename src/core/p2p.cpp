// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/p2p.hpp"

#include <cstdlib>
#include <mutex>
#include <new>

#include "base/setting.hpp"
#include "core/event.hpp"
#include "core/failure.hpp"
#include "core/protocol/protocol.hpp"
#include "core/send_now.hpp"
#include "core/settings.hpp"

namespace weft::core {

// A message that found the way full: a request, or a protocol message we keep a copy of.
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

// Under queue_lock, as all that follows here. Sends to the peer by any thread queue up behind it, whatever their lane.
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

// What found the way full. Memory that was registered to be announced is announced still: by a path that registers none
// nobody would deregister it, and the next send of this request would announce it as its own.
bool try_again(Request& r) {
  return r.registered.key != MemoryRef::no_key ? announce(r) : try_send(r);
}

bool try_waiting(Peer& peer, Waiting& w) {
  if (w.request == nullptr) {
    return peer.endpoint->send(w.kind, {0, 0, 0, w.lane}, w.payload(), w.bytes) == transport::Post::done;
  }
  LaneGuard guard(world->lanes[w.request->lane],
                  LaneGuard::TryTag{});  // never wait for a lane while holding the queues
  return guard.held() && try_again(*w.request);
}

// Whatever needs it: stamp and lane are given once, when the send starts.
void address(Request& r, uint32_t context, int32_t dest, int32_t tag) {
  r.peer = &world->peer(r.comm->job_rank(dest));
  r.match = {context, r.comm->rank, tag, r.peer->lane_map.lane_of(context, r.comm->rank, tag)};
  if (r.peer->lane_map.mask != 0 && !r.comm->unordered && r.peer->transport != world->self) {
    r.match.stamp = r.peer->stamps->slot(context).next(this_thread());
  }
  r.lane = static_cast<uint16_t>(world->lane_map.lane_of(context, r.comm->rank, tag));
}

}  // namespace

bool try_send(Request& r) {
  const bool room = !r.peer->endpoint->congested();
  const bool sync = r.mode == Mode::synchronous;
  const int64_t mailbox_room = world->mailbox_limit;
  if (room && r.bytes <= mailbox_room - (sync ? static_cast<int64_t>(sizeof(wire::Sync)) : 0)) return send_mailbox(r);
  if (room && !sync && r.peer->transport != world->self && r.bytes <= buffer_bytes(*r.peer->transport)) {
    bool no_staging = false;
    if (send_buffer(r, &no_staging)) return true;
    if (!no_staging) return false;  // all buffers in use: announcing keeps the order and needs none
  }
  return announce(r);
}

void send_control(Peer& peer, uint32_t lane, uint8_t kind, const void* payload, uint32_t bytes) {
  const Envelope envelope{0, 0, 0, lane};
  if (!peer.queued.load(std::memory_order_acquire) &&
      peer.endpoint->send(kind, envelope, payload, bytes) == transport::Post::done) {
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

namespace {

// Completions wait until this is over: it stands around code that holds the queues.
class FollowUpLater {
 public:
  FollowUpLater() : me_(this_thread()) { ++me_.lanes_held; }
  ~FollowUpLater() {
    if (--me_.lanes_held == 0) me_.run_ended();
  }
  FollowUpLater(const FollowUpLater&) = delete;
  FollowUpLater& operator=(const FollowUpLater&) = delete;

 private:
  Thread& me_;
};

}  // namespace

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

void complete_send(Request& r, Path path) {
  PathCount& sent = this_thread().sent[static_cast<int>(path)];
  count(sent.messages);
  count(sent.bytes, static_cast<uint64_t>(r.bytes));
  world->lanes[r.lane].count_sends(-1);
  complete(r);
}

void start_send(Request& r, uint32_t context, int32_t dest, int32_t tag) {
  address(r, context, dest, tag);
  r.source = proc_null;
  r.tag = any_tag;
  r.received = 0;
  Peer& peer = *r.peer;
  Lane& home = world->lanes[r.lane];
  LaneGuard guard(home);
  home.count_sends(1);
  if (!peer.queued.load(std::memory_order_acquire) && try_send(r)) return;
  FollowUpLater later;
  std::lock_guard queues(world->queue_lock);
  if (peer.waiting == nullptr && try_again(r)) return;  // the queue has become empty meanwhile
  count(this_thread().retries);
  Waiting* w = new_waiting(0);
  w->request = &r;
  append(peer, w);
  tell_of(Event::queued, {peer.rank, tag, r.bytes, is_internal(r.match)});
}

void start_specific_receive(Request& r, uint32_t context, int32_t source, int32_t tag) {
  wish(r, context, source, tag);
  r.lane = static_cast<uint16_t>(world->lane_map.lane_of(context, source, tag));
  Lane& lane = world->lanes[r.lane];
  {
    LaneGuard guard(lane);
    Unexpected* message = lane.matcher.find(r.match);
    if (message == nullptr) return lane.matcher.post(r, world->wildcards);
    if (world->lane_map.mask == 0 || !world->wildcards.may_match(r.match.context)) {
      lane.matcher.remove(message);
      return consume(r, message);
    }
  }
  // The message may be for a receive with a wildcard that was posted before: those first.
  AllLanesGuard all;
  settle_all();
  if (Unexpected* message = lane.matcher.find(r.match)) {
    lane.matcher.remove(message);
    return consume(r, message);
  }
  lane.matcher.post(r, world->wildcards);
}

void start_receive(Request& r, uint32_t context, int32_t source, int32_t tag) {
  if (source != any_source && tag != any_tag) return start_specific_receive(r, context, source, tag);
  wish(r, context, source, tag);
  r.lane = any_lane;
  AllLanesGuard all;
  settle_all();
  if (Unexpected* message = choose(r.match)) {
    world->lanes[message->envelope.lane].matcher.remove(message);
    return consume(r, message);
  }
  world->wildcards.post(r);
}

int attend(Peer& peer) {
  peer.near->attend();
  if (peer.near->congested()) peer.close_way();
  return 0;
}

int32_t send(Comm& comm, uint32_t context, const void* buffer, int64_t count, Type& type, int32_t dest, int32_t tag) {
  if (type.contiguous && send_now(comm, context, buffer, count * type.size, dest, tag)) return no_error;
  Request* r = new_request(comm, Role::send);
  if (r == nullptr) return no_memory;
  set_buffer(*r, const_cast<void*>(buffer), count, type);
  start_send(*r, context, dest, tag);
  wait(*r);
  const int32_t error = r->error;
  free_request(r);
  return error;
}

int32_t receive(Comm& comm, uint32_t context, void* buffer, int64_t count, Type& type, int32_t source, int32_t tag,
                Outcome* outcome) {
  Request* r = new_request(comm, Role::receive);
  if (r == nullptr) return no_memory;
  set_buffer(*r, buffer, count, type);
  start_receive(*r, context, source, tag);
  wait(*r);
  if (outcome != nullptr) *outcome = {r->source, r->tag, r->error, r->received, false};
  const int32_t error = r->error;
  free_request(r);
  return error;
}

int32_t send_receive(Comm& comm, uint32_t context, const void* send_buffer, int64_t send_count, Type& send_type,
                     int32_t dest, void* receive_buffer, int64_t receive_count, Type& receive_type, int32_t source,
                     int32_t tag) {
  Request* r = new_request(comm, Role::receive);
  if (r == nullptr) return no_memory;
  set_buffer(*r, receive_buffer, receive_count, receive_type);
  start_receive(*r, context, source, tag);
  const int32_t send_error = send(comm, context, send_buffer, send_count, send_type, dest, tag);
  wait(*r);
  const int32_t error = send_error != no_error ? send_error : r->error;
  free_request(r);
  return error;
}

namespace {

void end_cancelled(Request& r) {
  r.flags.cancelled = true;
  complete(r);
}

void cancel_receive(Request& r) {
  if (r.lane == any_lane) {
    AllLanesGuard all;
    settle_all();
    if (world->wildcards.remove(r)) end_cancelled(r);
    return;
  }
  Lane& lane = world->lanes[r.lane];
  LaneGuard guard(lane);
  if (!is_done(r) && lane.matcher.withdraw(r)) end_cancelled(r);
}

}  // namespace

void cancel(Request& r) {
  if (is_done(r)) return;
  if (r.role == Role::receive) return cancel_receive(r);
  if (r.role != Role::send || r.peer == nullptr) return;
  LaneGuard guard(world->lanes[r.lane]);
  if (is_done(r) || r.flags.cancelled) return;
  if (unqueue(r)) {
    deregister(r);
    world->lanes[r.lane].count_sends(-1);
    return end_cancelled(r);
  }
  const wire::Recall recall{reinterpret_cast<uint64_t>(&r), world->rank, r.lane};
  send_control(*r.peer, r.match.lane, wire::recall, &recall, sizeof recall);
}

bool follow_up(Request& r, bool (*on_done)(Request&)) {
  // Who holds the lanes that it may end on, sees it pending or done.
  auto set = [&] {
    if (is_done(r)) return false;
    r.on_done = on_done;
    return true;
  };
  if (r.lane == any_lane) {
    AllLanesGuard all;
    return set();
  }
  LaneGuard guard(world->lanes[r.lane]);
  return set();
}

namespace {

// Looks for a message, and takes it out of matching when `take`.
Unexpected* look(const Envelope& wanted, bool take, Outcome* outcome) {
  auto found = [&](Unexpected* message) {
    if (message == nullptr) return message;
    if (outcome != nullptr) {
      *outcome = {message->envelope.source, message->envelope.tag, no_error, message->message_bytes, false};
    }
    if (take) world->lanes[message->envelope.lane].matcher.remove(message);
    return message;
  };
  if (!has_wildcard(wanted)) {
    Lane& lane = world->lane_for(wanted);
    LaneGuard guard(lane);
    Unexpected* message = lane.matcher.find(wanted);
    // It may be for a receive with a wildcard that was posted before: those first.
    if (message == nullptr || world->lane_map.mask == 0 || !world->wildcards.may_match(wanted.context)) {
      return found(message);
    }
  } else {
    bool any = false;
    for (uint32_t i = 0; i < world->lane_map.lanes(); ++i) any |= world->lanes[i].matcher.kept() != 0;
    if (!any) return nullptr;
  }
  AllLanesGuard all;
  settle_all();
  return found(has_wildcard(wanted) ? choose(wanted) : world->lane_for(wanted).matcher.find(wanted));
}

}  // namespace

bool probe(uint32_t context, int32_t source, int32_t tag, Outcome* outcome) {
  const Envelope wanted{context, source, tag, 0};
  if (look(wanted, false, outcome) != nullptr) return true;
  (void)progress();
  return look(wanted, false, outcome) != nullptr;
}

Unexpected* take_message(uint32_t context, int32_t source, int32_t tag, Outcome* outcome) {
  const Envelope wanted{context, source, tag, 0};
  if (Unexpected* message = look(wanted, true, outcome)) return message;
  (void)progress();
  return look(wanted, true, outcome);
}

void receive_matched(Request& r, Unexpected* message) {
  r.match = message->envelope;
  r.lane = static_cast<uint16_t>(message->envelope.lane);
  LaneGuard guard(world->lanes[r.lane]);
  consume(r, message);
}

void complete_later(Request& r) {
  Thread& me = this_thread();
  r.next = me.ended;
  me.ended = &r;
  if (me.lanes_held == 0) me.run_ended();
}

void end(Request& r) {
  if (r.on_done(r)) {
    mark_done(r);
  } else {
    tell_sleepers(nullptr);
  }
}

namespace {

const Comm* comm_of(const Request& r) {
  return std::atomic_ref(const_cast<Comm*&>(r.comm)).load(std::memory_order_relaxed);
}

}  // namespace

bool in_use(const Comm& comm) {
  return any_request([](const Request& r, const void* about) { return comm_of(r) == about; }, &comm);
}

bool has_pending(const Comm& comm) {
  auto pending = [](const Request& r, const void* about) {
    return comm_of(r) == about && !is_done(r) && (r.flags.active || !r.flags.persistent);
  };
  return any_request(pending, &comm);
}

}  // namespace weft::core
