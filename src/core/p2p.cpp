// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/p2p.hpp"

#include <cstdlib>
#include <new>

#include "base/message.hpp"
#include "base/setting.hpp"
#include "core/protocol/protocol.hpp"
#include "core/send_now.hpp"

namespace weft::core {

// A message that found the way full: a request, or a protocol message we keep a copy of.
struct Waiting {
  Waiting* next;
  Request* request;  // nullptr: the payload
  uint8_t kind;
  uint32_t bytes;
  unsigned char payload[wire::largest];
};

namespace {

Waiting* new_waiting() {
  auto* w = new (std::nothrow) Waiting{};
  if (w == nullptr) {
    base::die({.cause = "no memory to queue a message whose way is full", .remedy = "free memory on this host"});
  }
  return w;
}

void append(Peer& peer, Waiting* w) {
  (peer.waiting == nullptr ? peer.waiting : peer.waiting_last->next) = w;
  peer.waiting_last = w;
  peer.open = nullptr;
  if (peer.listed) return;
  peer.listed = true;
  peer.next_waiting = world.lane.peers_waiting;
  world.lane.peers_waiting = &peer;
}

bool try_waiting(Peer& peer, Waiting& w) {
  if (w.request != nullptr) return try_send(*w.request);
  return peer.endpoint->send(w.kind, {}, w.payload, w.bytes) == transport::Post::done;
}

}  // namespace

bool try_send(Request& r) {
  const bool room = !r.peer->endpoint->congested();
  const bool sync = r.mode == Mode::synchronous;
  const int64_t mailbox_room = world.mailbox_limit;
  if (room && r.bytes <= mailbox_room - (sync ? static_cast<int64_t>(sizeof(wire::Sync)) : 0)) return send_mailbox(r);
  if (room && !sync && r.bytes <= world.buffer_limit && r.peer->transport != world.self) {
    bool no_staging = false;
    if (send_buffer(r, &no_staging)) return true;
    if (!no_staging) return false;  // all buffers in use: announcing keeps the order and needs none
  }
  return announce(r);
}

void wait_for_room(Request& r) {
  Waiting* w = new_waiting();
  w->request = &r;
  append(*r.peer, w);
}

void send_control(Peer& peer, uint8_t kind, const void* payload, uint32_t bytes) {
  if (peer.waiting == nullptr && peer.endpoint->send(kind, {}, payload, bytes) == transport::Post::done) return;
  ++world.lane.counters.retries;
  Waiting* w = new_waiting();
  w->kind = kind;
  w->bytes = bytes;
  __builtin_memcpy(w->payload, payload, bytes);
  append(peer, w);
}

bool flush_waiting() {
  // Nothing below comes back here: the way to ourselves is never full, and no other peer's messages are handled now.
  bool sent = false;
  Peer** at = &world.lane.peers_waiting;
  while (Peer* peer = *at) {
    while (Waiting* w = peer->waiting) {
      if (!try_waiting(*peer, *w)) break;
      peer->waiting = w->next;
      delete w;
      sent = true;
    }
    if (peer->waiting == nullptr) {
      peer->listed = false;
      peer->open = peer->near;
      *at = peer->next_waiting;
    } else {
      at = &peer->next_waiting;
    }
  }
  return sent;
}

bool unqueue(Request& r) {
  Waiting* before = nullptr;
  for (Waiting* w = r.peer->waiting; w != nullptr; before = w, w = w->next) {
    if (w->request != &r) continue;
    // The peer stays listed: flush_waiting() drops a peer with nothing left to send.
    (before == nullptr ? r.peer->waiting : before->next) = w->next;
    if (r.peer->waiting_last == w) r.peer->waiting_last = before;
    delete w;
    return true;
  }
  return false;
}

void complete_send(Request& r, Path path) {
  PathCount& count = world.lane.counters.sent[static_cast<int>(path)];
  ++count.messages;
  count.bytes += static_cast<uint64_t>(r.bytes);
  --world.lane.sends_open;
  complete(r);
}

void start_send(Request& r, uint32_t context, int32_t dest, int32_t tag) {
  r.match = {context, r.comm->rank, tag, 0};
  r.source = proc_null;
  r.tag = any_tag;
  r.received = 0;
  r.peer = &world.peer(r.comm->job_rank(dest));
  if (r.peer->waiting == nullptr && !r.peer->endpoint->congested()) r.peer->open = r.peer->near;
  ++world.lane.sends_open;
  if (r.peer->waiting == nullptr && try_send(r)) return;
  ++world.lane.counters.retries;
  wait_for_room(r);
}

void receive_unexpected_or_post(Request& r) {
  Matcher& matcher = world.lane.matcher;
  if (Unexpected* message = matcher.find(r.match)) {
    matcher.remove(message);
    return consume(r, message);
  }
  matcher.post(r);
}

void attend(Peer& peer) {
  peer.near->attend();
  if (peer.near->congested()) peer.open = nullptr;
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

void cancel(Request& r) {
  if (is_done(r) || r.flags.cancelled) return;
  if (r.role == Role::receive) {
    if (!world.lane.matcher.withdraw(r)) return;
    r.flags.cancelled = true;
    return complete(r);
  }
  if (r.role != Role::send) return;
  if (unqueue(r)) {
    r.flags.cancelled = true;
    --world.lane.sends_open;
    return complete(r);
  }
  if (r.peer == nullptr) return;
  const wire::Recall recall{reinterpret_cast<uint64_t>(&r), world.rank, 0};
  send_control(*r.peer, wire::recall, &recall, sizeof recall);
}

namespace {

Unexpected* look(const Envelope& wanted, Outcome* outcome) {
  Unexpected* message = world.lane.matcher.find(wanted);
  if (message != nullptr && outcome != nullptr) {
    *outcome = {message->envelope.source, message->envelope.tag, no_error, message->message_bytes, false};
  }
  return message;
}

}  // namespace

bool probe(uint32_t context, int32_t source, int32_t tag, Outcome* outcome) {
  const Envelope wanted{context, source, tag, 0};
  if (look(wanted, outcome) != nullptr) return true;
  (void)progress();
  return look(wanted, outcome) != nullptr;
}

Unexpected* take_message(uint32_t context, int32_t source, int32_t tag, Outcome* outcome) {
  if (!probe(context, source, tag, nullptr)) return nullptr;
  Unexpected* message = look({context, source, tag, 0}, outcome);
  world.lane.matcher.remove(message);
  return message;
}

void receive_matched(Request& r, Unexpected* message) {
  r.match = message->envelope;
  consume(r, message);
}

bool in_use(const Comm& comm) {
  return world.lane.any_request([&](const Request& r) { return r.comm == &comm; });
}

}  // namespace weft::core
