// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/message/send_now.hpp"

#include "core/lane/lane.hpp"
#include "core/thread/thread.hpp"

namespace weft::core {

namespace {

[[gnu::always_inline]] inline bool write_now(Thread& me, Peer& peer, transport::inlined::Endpoint& way,
                                             const Envelope& envelope, const void* buffer, int64_t bytes) {
  if (way.ring(envelope.lane).write(wire::eager, envelope, buffer, static_cast<uint32_t>(bytes)) !=
      transport::Post::done) [[unlikely]] {
    return false;
  }
  if (sent_now(me, way, bytes)) [[unlikely]]
    (void)attend(peer);
  return true;
}

// Sends to a peer without an inlined route, whose transport takes or refuses the message at once. A message that has to
// wait takes the general route.
bool send_far(Thread& me, Peer& peer, const Envelope& envelope, const void* buffer, int64_t bytes) {
  const bool open = peer.endpoint != nullptr && peer.near == nullptr && !peer.transport->capabilities().same_process &&
                    peer.lane_map.mask == 0 && !peer.queues_on(0) && !peer.endpoint->congested() &&
                    threads->design != Design::global;
  if (!open ||
      peer.endpoint->send(wire::eager, envelope, buffer, static_cast<uint32_t>(bytes)) != transport::Post::done) {
    return false;
  }
  PathCount& sent = me.sent[static_cast<int>(Path::mailbox)];
  count(sent.messages);
  count(sent.bytes, static_cast<uint64_t>(bytes));
  return true;
}

}  // namespace

bool send_now(const Comm& comm, uint32_t context, const void* buffer, int64_t bytes, int32_t dest, int32_t tag) {
  if (bytes > peers->mailbox_limit) return false;
  Peer& peer = known_peer(comm, dest);
  Envelope envelope{context, comm.rank, tag, 0};
  Thread& me = this_thread();
  if (transport::inlined::Endpoint* open = peer.open.load(std::memory_order_relaxed)) {
    return write_now(me, peer, *open, envelope, buffer, bytes);
  }
  if (transport::inlined::Endpoint* wide = peer.wide.load(std::memory_order_relaxed)) {
    if (peer.lane_map.mask != 0) {
      envelope.lane = peer.lane_map.lane_of(context, tag);
      if (!comm.unordered) envelope.stamp = peer.stamps->slot(context).next(me);
    }
    if (threads->design != Design::global) [[likely]]
      return write_now(me, peer, *wide, envelope, buffer, bytes);
    LaneGuard guard(lanes->all[0]);  // the one lock of this design
    return write_now(me, peer, *wide, envelope, buffer, bytes);
  }
  return send_far(me, peer, envelope, buffer, bytes);
}

}  // namespace weft::core
