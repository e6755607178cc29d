// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The queues of sends that found the ring or the network full. Where the lanes of a communicator are read together for
// MPI_ANY_TAG (docs/design/matching.md, "Completeness"), a peer has one, and all sends to the peer go behind, whatever
// their thread and lane. Elsewhere it has one for each of its lanes, so that threads which use different lanes do not
// wait for each other. progress() sends them when there is space.

#include <cstdint>

#include "core/object/request.hpp"
#include "core/peer/peer.hpp"

namespace weft::core {

// Sends a protocol message to a lane of the peer, now or when there is space. The source of its envelope is our rank in
// the job.
void send_control(Peer& peer, uint32_t lane, uint8_t kind, const void* payload, uint32_t bytes);

// Sends or queues any message that ends with its payload.
void send_or_queue(Peer& peer, const Envelope& envelope, uint8_t kind, const void* payload, uint32_t bytes);

// Queues a started send that did not leave, unless it leaves now. Its home lane is held.
void queue_send(Request& r);

// Takes a send out of the queue; false when it is not there.
bool unqueue(Request& r);

// Sends messages that wait for space, everywhere or in one place of all peers; whether anything left.
bool flush_waiting();
bool flush_waiting(uint32_t place);

// count_waiting() counts the messages to the peer that wait for space; drop_waiting() ends them when the peer is lost.
int64_t count_waiting(Peer& peer);
void drop_waiting(Peer& peer);

// The process that had this place has left the job: no operation and no message is under way with it, and nobody sends
// to it any more. Deletes what we know of it.
void forget_peer(int32_t job_rank);

}  // namespace weft::core
