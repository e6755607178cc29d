// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The interface of the four paths of messages to the rest of core; core/protocol implements it. Each path is one file
// there, with its row of PathInfo and both of its halves.

#include <span>

#include "core/lane/lane.hpp"

namespace weft::core {

namespace wire {
// E0's kind of message: the data. Small sends write it into the ring themselves (core/message/send_now.hpp).
inline constexpr uint8_t eager = 1;
}  // namespace wire

// The description of a path that `weft info` prints.
struct PathInfo {
  const char* name;
  const char* what;
  const char* cost;
};
// Chunks of a stream (R1) out of the host's memory, in bytes.
inline constexpr int64_t least_chunk = 8 << 10, most_chunk = 32 << 10;
extern const PathInfo mailbox_info, buffer_info, get_info, stream_info;

// A method by which the data of a large message (R0) come. The receiver asks each in their order: begin() does what
// there is to do at once; false: the method does not suit, and nothing has changed.
struct Rendezvous;
struct GetMethod {
  const char* name;
  const char* condition;
  const char* cost;
  bool (*begin)(const Rendezvous& message);
};
extern const std::span<const GetMethod> get_methods;

// Sends by the path that fits; false when the way is full. The home lane of the send is held.
bool try_send(Request& r);
// Sends again what found the way full before; false when it still is.
bool try_again(Request& r);

// Handles the messages in a lane's ring, at most a few dozen; whether there was any. It does what the transport's
// poll(on_arrival) does, without the indirect calls.
bool receive_ring(Lane& lane);

}  // namespace weft::core
