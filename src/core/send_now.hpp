// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The road of a small message to a rank of this host, whole, inlined into its callers: this is the one place where core
// knows the transport behind an endpoint. One branch tells that the way is open: the peer was met, nothing waits for
// room, it takes more than envelopes. Everything else goes the general way, start_send().

#include "core/p2p.hpp"
#include "core/protocol/wire.hpp"
#include "core/stamp.hpp"

namespace weft::core {

// What the peer's attention word asks for: waking it, or closing its way to data.
[[gnu::noinline]] void attend(Peer& peer);

// What follows a message in the ring: it is counted, and the peer's attention word looked at.
[[gnu::always_inline]] inline void sent_now(Thread& me, Peer& peer, transport::shm::ShmEndpoint& open, int64_t bytes) {
  PathCount& sent = me.sent[static_cast<int>(Path::mailbox)];
  count(sent.messages);
  count(sent.bytes, static_cast<uint64_t>(bytes));
  std::atomic_signal_fence(std::memory_order_seq_cst);  // see ShmTransport::arm()
  if (open.attention().load(std::memory_order_relaxed) != 0) [[unlikely]]
    attend(peer);
}

// Sends what fits into one cell (8 bytes), from a process that communicates with one thread at a time, to a peer with
// one lane. Point-to-point context.
[[gnu::always_inline]] inline bool send_tiny(const Comm& comm, const void* buffer, int64_t bytes, int32_t dest,
                                             int32_t tag) {
  Peer& peer = *world.peers[comm.job_rank(dest)].load(std::memory_order_acquire);
  transport::shm::ShmEndpoint* const open = peer.open.load(std::memory_order_relaxed);
  if (open == nullptr || bytes > transport::shm::inline_bytes) [[unlikely]]
    return false;
  uint64_t position;
  auto* cell = open->ring().try_reserve(&position);
  if (cell == nullptr) [[unlikely]]
    return false;
  open->ring().fill(cell, position, wire::eager, {comm.context, comm.rank, tag, 0}, buffer,
                    static_cast<uint32_t>(bytes));
  sent_now(main_thread, peer, *open, bytes);
  return true;
}

// Sends what fits into the mailbox, whatever the threads and lanes. No lock is taken (but by design `global`).
bool send_now(const Comm& comm, uint32_t context, const void* buffer, int64_t bytes, int32_t dest, int32_t tag);

}  // namespace weft::core
