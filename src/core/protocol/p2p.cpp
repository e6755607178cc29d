// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/protocol/p2p.hpp"

#include "core/lane/lane.hpp"
#include "core/message/completion.hpp"
#include "core/message/path.hpp"
#include "core/message/send_now.hpp"
#include "core/message/send_queue.hpp"
#include "core/message/settle.hpp"
#include "core/message/unexpected.hpp"
#include "core/peer/peer.hpp"

namespace weft::core {

namespace {

// For sends and receives: stamp and lane are given once, when the send starts.
void address(Request& r, uint32_t context, int32_t dest, int32_t tag) {
  r.peer = &peers->of(r.comm->job_rank(dest));
  r.match = {context, r.comm->rank, tag, r.peer->lane_map.lane_of(context, tag)};
  if (r.peer->lane_map.mask != 0 && !r.comm->unordered && !r.peer->transport->capabilities().same_process) {
    StampSlot<>& slot = r.peer->stamps->slot(context);
    r.match.stamp = r.peer->counts ? slot.next_number() : slot.next(this_thread());
  }
  r.lane = static_cast<uint16_t>(lanes->map.lane_of(context, tag));
}

}  // namespace

void start_send(Request& r, uint32_t context, int32_t dest, int32_t tag) {
  address(r, context, dest, tag);
  r.source = proc_null;
  r.tag = any_tag;
  r.received = 0;
  Peer& peer = *r.peer;
  Lane& home = lanes->all[r.lane];
  LaneGuard guard(home);
  if (const int32_t error = peer.lost.load(std::memory_order_relaxed)) [[unlikely]] {
    r.error = error;
    return complete(r);
  }
  home.count_sends(1);
  if (!peer.queues_on(r.match.lane) && try_send(r)) return;
  queue_send(r);
}

void start_lane_receive(Request& r, uint32_t context, int32_t source, int32_t tag) {
  wish(r, context, source, tag);
  r.lane = static_cast<uint16_t>(lanes->map.lane_of(context, tag));
  Lane& lane = lanes->all[r.lane];
  {
    LaneGuard guard(lane);
    Unexpected* message = lane.matcher.find(r.match);
    if (message == nullptr) return lane.matcher.post_either(r);
    if (!lanes->any_tags.may_match(r.match.context)) {
      lane.matcher.remove(message);
      return consume(r, message);
    }
  }
  // The message may be for a receive with MPI_ANY_TAG that was posted before: those first.
  AllLanesGuard all;
  settle_all();
  if (Unexpected* message = lane.matcher.find_free(r.match)) {
    lane.matcher.remove(message);
    return consume(r, message);
  }
  lane.matcher.post_either(r);
}

void start_receive(Request& r, uint32_t context, int32_t source, int32_t tag) {
  if (!lanes->is_across({context, source, tag, 0})) return start_lane_receive(r, context, source, tag);
  wish(r, context, source, tag);
  r.lane = any_lane;
  AllLanesGuard all;
  settle_all();
  if (Unexpected* message = choose(r.match)) {
    lanes->all[message->envelope.lane].matcher.remove(message);
    return consume(r, message);
  }
  post_across(r);
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
  r->flags.awaited = true;
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

bool follow_up(Request& r, bool (*on_done)(Request&)) {
  // A holder of the lanes that it may end on sees it pending or done.
  auto set = [&] {
    if (is_done(r)) return false;
    r.on_done = on_done;
    return true;
  };
  if (r.lane == any_lane) {
    AllLanesGuard all;
    return set();
  }
  LaneGuard guard(lanes->all[r.lane]);
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
    if (take) lanes->all[message->envelope.lane].matcher.remove(message);
    return message;
  };
  if (!lanes->is_across(wanted)) {
    Lane& lane = lanes->of(wanted);
    if (lane.matcher.kept() == 0) return nullptr;
    LaneGuard guard(lane);
    Unexpected* message = lane.matcher.find(wanted);
    // It may be for a receive with MPI_ANY_TAG that was posted before: those first.
    if (message == nullptr || !lanes->any_tags.may_match(wanted.context)) return found(message);
  } else {
    bool any = false;
    for (uint32_t i = 0; i < lanes->map.lanes(); ++i) any |= lanes->all[i].matcher.kept() != 0;
    if (!any) return nullptr;
  }
  AllLanesGuard all;
  settle_all();
  return found(lanes->is_across(wanted) ? choose(wanted) : lanes->of(wanted).matcher.find_free(wanted));
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
  LaneGuard guard(lanes->all[r.lane]);
  consume(r, message);
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
