// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The road of a small message to a rank of this host, whole, inlined into its callers: this is the one place where core
// knows the transport behind an endpoint. One branch tells that the way is open: the peer was met, nothing waits for
// room, it takes more than envelopes. Everything else goes the general way, start_send().

#include "core/p2p.hpp"
#include "core/protocol/wire.hpp"

namespace weft::core {

// What the peer's attention word asks for: waking it, or closing its way to data.
[[gnu::noinline]] void attend(Peer& peer);

// What follows a message in the ring: it is counted, and the peer's attention word looked at.
[[gnu::always_inline]] inline void sent_now(Peer& peer, transport::shm::ShmEndpoint& open, int64_t bytes) {
  PathCount& count = world.lane.counters.sent[static_cast<int>(Path::mailbox)];
  ++count.messages;
  count.bytes += static_cast<uint64_t>(bytes);
  std::atomic_signal_fence(std::memory_order_seq_cst);  // see ShmTransport::arm()
  if (open.attention().load(std::memory_order_relaxed) != 0) [[unlikely]]
    attend(peer);
}

// Sends what fits into one cell (8 bytes).
[[gnu::always_inline]] inline bool send_tiny(const Comm& comm, uint32_t context, const void* buffer, int64_t bytes,
                                             int32_t dest, int32_t tag) {
  Peer& peer = *world.peers[comm.job_rank(dest)];
  transport::shm::ShmEndpoint* const open = peer.open;
  const Envelope envelope{context, comm.rank, tag, 0};
  if (open != nullptr && bytes <= transport::shm::inline_bytes &&
      open->ring().try_write(wire::eager, envelope, buffer, static_cast<uint32_t>(bytes))) [[likely]] {
    sent_now(peer, *open, bytes);
    return true;
  }
  return false;
}

// Sends what fits into the mailbox.
inline bool send_now(const Comm& comm, uint32_t context, const void* buffer, int64_t bytes, int32_t dest, int32_t tag) {
  Peer& peer = *world.peers[comm.job_rank(dest)];
  transport::shm::ShmEndpoint* const open = peer.open;
  if (open == nullptr || bytes > world.mailbox_limit) return false;
  const Envelope envelope{context, comm.rank, tag, 0};
  if (open->ring().write(wire::eager, envelope, buffer, static_cast<uint32_t>(bytes)) != transport::Post::done) {
    return false;
  }
  sent_now(peer, *open, bytes);
  return true;
}

}  // namespace weft::core
