// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Which path a send takes, and to which send an answer belongs.
#include "core/message/path.hpp"

#include "core/object/failure.hpp"
#include "core/object/settings.hpp"
#include "core/peer/peer.hpp"
#include "core/protocol/protocol.hpp"

namespace weft::core {

bool try_send(Request& r) {
  const bool room = !r.peer->endpoint->congested();
  const bool sync = r.mode == Mode::synchronous;
  const int64_t mailbox_room = peers->mailbox_limit;
  if (room && r.bytes <= mailbox_room - (sync ? static_cast<int64_t>(sizeof(wire::Sync)) : 0)) return send_mailbox(r);
  if (room && !sync && !r.peer->transport->capabilities().same_process && r.bytes <= buffer_bytes(*r.peer->transport) &&
      !goes_by_device(r)) {
    bool no_staging = false;
    if (send_buffer(r, &no_staging)) return true;
    if (!no_staging) return false;  // all buffers in use: an RTS keeps the order and needs none
  }
  return send_rts(r);
}

// A send whose memory is registered for its RTS sends that RTS: a path that registers nothing would leave the
// registration behind, and the next send of this request would take it for its own.
bool try_again(Request& r) {
  if (r.registered.key != MemoryRef::no_key) return send_rts(r);
  take_number(r);  // it may leave by a path without one now
  return try_send(r);
}

Peer& sender_of(const transport::Arrival& a, int32_t rank, uint32_t lane) {
  if (is_from(a, rank)) {
    Peer& peer = peers->of(rank);
    if (lane < peer.lane_map.lanes()) return peer;
  }
  failed(FailureCause::protocol, a.from,
         {.cause = "a message names lane " + std::to_string(lane) + " of rank " + std::to_string(rank) +
                   " as its sender, which does not exist or is not",
          .remedy = "run all ranks with the same version of Weft"});
}

wire::Rts rts_of(const transport::Arrival& a) {
  const auto rts = payload_of<wire::Rts>(a);
  (void)sender_of(a, rts.origin, rts.lane);
  const bool whole = rts.readable != wire::Rts::on_device || a.bytes >= sizeof(wire::RtsOnDevice);
  if (rts.bytes > INT64_MAX || rts.readable > wire::Rts::on_device || !whole) {
    failed(FailureCause::protocol, rts.origin,
           {.cause = "rank " + std::to_string(rts.origin) + " announces a message of " + std::to_string(rts.bytes) +
                     " bytes",
            .remedy = "run all ranks with the same version of Weft"});
  }
  return rts;
}

const void* staged(const transport::Arrival& a, const Peer& peer, uint64_t handle, uint64_t bytes) {
  const std::optional<const void*> data = peer.endpoint->staging(a, handle, bytes);
  if (data) return *data;
  failed(FailureCause::protocol, peer.rank,
         {.cause = "a message of rank " + std::to_string(peer.rank) + " names " + std::to_string(bytes) +
                   " bytes of its staging memory that are not there",
          .remedy = "run all ranks with the same version of Weft"});
}

Request* answered(const transport::Arrival& a, uint64_t send) {
  const bool possible = is_from(a, a.envelope.source);
  Request* r = possible ? find_send(send, NumberStage::asked, a.envelope.source, a.envelope.lane) : nullptr;
  if (r == nullptr) count(lane_of(a).stale);
  return r;
}

}  // namespace weft::core
