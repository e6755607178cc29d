// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The road of a small message, whole, inlined into its callers: one branch each for a peer not met yet, a peer whose way is
// full, and one that asks for envelopes only, then the endpoint's one indirect call.

#include "core/p2p.hpp"
#include "core/protocol/wire.hpp"

namespace weft::core {

inline bool send_now(const Comm& comm, uint32_t context, const void* buffer, int64_t bytes, int32_t dest,
                     int32_t tag) {
  if (bytes > world.mailbox_limit) return false;
  Peer& peer = world.peer(comm.job_rank(dest));
  if (peer.waiting != nullptr || peer.endpoint->congested()) [[unlikely]] return false;
  const Envelope envelope{context, comm.rank, tag, 0};
  if (peer.endpoint->send(wire::eager, envelope, buffer, static_cast<uint32_t>(bytes)) != transport::Post::done)
      [[unlikely]] {
    ++world.lane.counters.retries;
    return false;
  }
  PathCount& count = world.lane.counters.sent[static_cast<int>(Path::mailbox)];
  ++count.messages;
  count.bytes += static_cast<uint64_t>(bytes);
  return true;
}

}  // namespace weft::core
