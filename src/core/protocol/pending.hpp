// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The operations pending with a peer, and their end when the peer is lost. The policy (core/object/failure.hpp) decides
// whether that is called; today it ends the job instead.

#include "core/peer/peer.hpp"

namespace weft::core {

// Operations that wait for one peer: sends to it that are not complete, and receives that name it as their source.
// Messages that found the way full, and messages of its that are coming in.
struct PendingWith {
  int64_t sends = 0;
  int64_t receives = 0;
  int64_t queued = 0;  // sends, and protocol messages of ours
  int64_t streams_in = 0;
  int64_t copies_in = 0;  // receives that are copied between the two memories (R0)
};
[[nodiscard]] PendingWith pending_with(Peer& peer);

// Ends what is pending with the peer: its requests complete with `error`, an error class; its announcements of
// data that it will never send are forgotten. Messages of its that are here whole can still be received. From now on a
// send to it completes with the same error, and protocol messages to it are dropped. Returns how many requests were
// ended.
//
// The caller holds no lane, and nothing more comes from the peer. A receive whose memory a transport still fills ends
// with the error when that is over. Three things are the caller's: receives with MPI_ANY_SOURCE, which others can
// match; pushed data that break off, which the transport tells of; window operations.
int64_t end_pending(Peer& peer, int32_t error);

}  // namespace weft::core
