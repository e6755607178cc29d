// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/send_now.hpp"

namespace weft::core {

namespace {

[[gnu::always_inline]] inline bool write_now(Thread& me, Peer& peer, transport::shm::ShmEndpoint& way,
                                             const Envelope& envelope, const void* buffer, int64_t bytes) {
  if (way.ring(envelope.lane).write(wire::eager, envelope, buffer, static_cast<uint32_t>(bytes)) !=
      transport::Post::done) [[unlikely]] {
    return false;
  }
  if (sent_now(me, way, bytes)) [[unlikely]]
    (void)attend(peer);
  return true;
}

// One lock for everything, to compare with.
[[gnu::cold, gnu::noinline]] bool write_locked(Peer& peer, transport::shm::ShmEndpoint& way, const Envelope& envelope,
                                               const void* buffer, int64_t bytes) {
  LaneGuard guard(world->lanes[0]);
  return write_now(hot_thread(), peer, way, envelope, buffer, bytes);
}

// To a rank of another host, whose transport takes or refuses it at once. What has to wait goes the general way.
bool send_far(Peer& peer, const Envelope& envelope, const void* buffer, int64_t bytes) {
  const bool open = peer.endpoint != nullptr && peer.transport == world->fabric && peer.lane_map.mask == 0 &&
                    !peer.queued.load(std::memory_order_acquire) && !peer.endpoint->congested() &&
                    world->design != Design::global;
  if (!open ||
      peer.endpoint->send(wire::eager, envelope, buffer, static_cast<uint32_t>(bytes)) != transport::Post::done) {
    return false;
  }
  PathCount& sent = this_thread().sent[static_cast<int>(Path::mailbox)];
  count(sent.messages);
  count(sent.bytes, static_cast<uint64_t>(bytes));
  return true;
}

}  // namespace

bool send_now(const Comm& comm, uint32_t context, const void* buffer, int64_t bytes, int32_t dest, int32_t tag) {
  if (bytes > world->mailbox_limit) return false;
  Peer& peer = *world->peers.find(comm.job_rank(dest));
  if (transport::shm::ShmEndpoint* way = peer.wide.load(std::memory_order_relaxed)) {
    Envelope envelope{context, comm.rank, tag, 0};
    Thread& me = this_thread();
    if (peer.lane_map.mask != 0) {
      envelope.lane = peer.lane_map.lane_of(context, comm.rank, tag);
      if (!comm.unordered) envelope.stamp = peer.stamps->slot(context).next(me);
    }
    if (world->design == Design::global) [[unlikely]]
      return write_locked(peer, *way, envelope, buffer, bytes);
    return write_now(me, peer, *way, envelope, buffer, bytes);
  }
  transport::shm::ShmEndpoint* const open = peer.open.load(std::memory_order_relaxed);
  if (open == nullptr) return send_far(peer, {context, comm.rank, tag, 0}, buffer, bytes);
  return write_now(world->main_thread, peer, *open, {context, comm.rank, tag, 0}, buffer, bytes);
}

}  // namespace weft::core
