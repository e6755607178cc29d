// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The queue of sends that found the ring or the network full. Each peer has one, in order; all sends to the peer go
// behind, whatever their thread and lane, and progress() sends them when there is room.

#include <cstdint>

#include "core/world.hpp"

namespace weft::core {

// Sends a protocol message to a lane of the peer, now or when there is room. The source of its envelope is our rank in
// the job.
void send_control(Peer& peer, uint32_t lane, uint8_t kind, const void* payload, uint32_t bytes);

// Queues a started send that did not leave, unless it leaves now. Its home lane is held.
void queue_send(Request& r);

// Takes a send out of the queue; false when it is not there.
bool unqueue(Request& r);

// Sends what waits for room; whether anything left.
bool flush_waiting();

// Messages to the peer that wait for room: how many there are, and their end when it is lost.
int64_t count_waiting(const Peer& peer);
void drop_waiting(Peer& peer);

}  // namespace weft::core
