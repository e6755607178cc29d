// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Between the files of core: how a message goes out by one of the four paths, and how it comes in. Each path is one
// file with its row of PathInfo; which one a send takes is decided in one place, try_send().

#include "core/p2p.hpp"
#include "core/protocol/wire.hpp"

namespace weft::core {

// What `weft info` prints of a path.
struct PathInfo {
  const char* name;
  const char* what;
  const char* cost;
};
extern const PathInfo mailbox_info, buffer_info, get_info, stream_info;

// All of this runs under the lock of the lane concerned: the home lane of a send, the lane that a message came on.

// ---- sending. `false`: the way is full, nothing was sent.
bool send_mailbox(Request& r);
bool send_buffer(Request& r, bool* no_staging);
bool push(Request& r, bool* refused);
bool announce(Request& r);

// Sends by the path that fits; false when the way is full.
bool try_send(Request& r);

// Sends a protocol message to a lane of the peer, now or when there is room.
void send_control(Peer& peer, uint32_t lane, uint8_t kind, const void* payload, uint32_t bytes);

// Sends what waits for room; whether anything left.
bool flush_waiting();

// Nobody reads the memory of an announced send any more.
void deregister(Request& r);

// Takes a send out of the waiting list; false when it is not there.
bool unqueue(Request& r);

// Moves the data of a lane's streams (R1) as far as staging memory allows; whether anything moved.
bool advance_streams(Lane& lane);

// Marks a send complete.
void complete_send(Request& r, Path path);

// The payload of a protocol message, whose size is checked; a wrong one ends the job.
void check_size(const transport::Arrival& arrival, size_t bytes);
template <class Payload>
Payload payload_of(const transport::Arrival& arrival) {
  Payload payload;
  check_size(arrival, sizeof(Payload));
  __builtin_memcpy(&payload, arrival.data, sizeof payload);
  return payload;
}

// ---- receiving
void on_arrival(const transport::Arrival& arrival);
// The same from ourselves, which no ring has counted.
void on_own_arrival(const transport::Arrival& arrival);
// Handles what lies in a lane's ring, at most a few dozen messages; whether there was any. The same as the transport's
// poll(on_arrival), without its indirect calls.
bool receive_ring(Lane& lane);

// Copies `data` to [position, position + bytes) of the receive's data; what is beyond its room is dropped.
void store(Request& r, int64_t position, const void* data, int64_t bytes);

// Sets the status of a receive and completes it. The data is in place.
inline void finish_receive(Request& r, const Envelope& envelope, int64_t message_bytes) {
  r.source = envelope.source;
  r.tag = envelope.tag;
  r.received = message_bytes;
  if (message_bytes > r.bytes) [[unlikely]] {
    r.received = r.bytes;
    r.error = truncated;
  }
  complete(r);
}

// E1 of a message whose data come after it.
void on_pushed(const transport::Arrival& arrival);
// An unexpected one is received while they still come.
void receive_landing(Unexpected& message, Request& r);
void free_landings(Lane& lane);

// Brings the data of an announced message into a matched receive: R0 or R1.
void fetch(Request& r, const Envelope& envelope, const wire::Announce& announced);

// R0 of large messages: sender and receiver copy together. share() returns false when it cannot be done that way.
bool share(Request& r, const Envelope& envelope, const wire::Announce& announced, int64_t wanted);
void on_offer(const transport::Arrival& arrival);
void on_delivered(const transport::Arrival& arrival);
// Copies one chunk of a message we receive, or else of one we send; whether there was any.
bool share_work(Lane& lane);
// The receiver has all it wants of this send.
void drop_push(Lane& lane, const Request& send);
// Whether there is a chunk that we may copy.
bool share_open(const Lane& lane);

// R0 of a receive without gaps, by whatever way its transport reads; what it cannot read comes by R1.
void read(Request& r, const Envelope& envelope, Peer& peer, const wire::Announce& announced, int64_t wanted);
// Begins reads that found no room; whether anything moved.
bool advance_readings(Lane& lane);
// Whether there is one that may begin.
bool reading_open(const Lane& lane);
void free_readings(Lane& lane);

// R0 of a request that may have gaps: its bytes [position, position + bytes), from or to the peer's memory in one
// piece. 0, or the errno that says why not.
[[nodiscard]] int get_data(Lane& lane, Peer& peer, const MemoryRef& from, const Request& r, int64_t position,
                           int64_t bytes);
[[nodiscard]] int put_data(Lane& lane, Peer& peer, const MemoryRef& to, const Request& r, int64_t position,
                           int64_t bytes);
// From a send of ours to a receive of ours, one of which has gaps.
void copy_own(const Request& send, const Request& receive, int64_t bytes);

// Asks for a matched message by R1.
void ask_stream(Request& r, const Envelope& envelope, Peer& peer, uint32_t their_lane, uint64_t send,
                int64_t message_bytes, int64_t wanted);

// An R1 message coming in: to a matched receive, or to memory of its own until it is matched.
struct Inflow {
  uint64_t send;
  int32_t origin;
  Request* receive;
  Unexpected* unexpected;
  Envelope envelope;
  int64_t message_bytes;
  int64_t limit;  // bytes that will come
  int64_t received;
  MemoryRef registered;  // memory of the receive, to be written into: deregistered at the end
  Inflow* next;
};
Inflow* open_inflow(uint64_t send, int32_t origin, const Envelope& envelope, int64_t message_bytes, int64_t limit);
void on_chunk(const transport::Arrival& arrival);
void on_ask_stream(const transport::Arrival& arrival);
// Turns the rest of a stream towards a receive matched while it was coming.
void redirect(Inflow& inflow, Request& r);

// Room for an unexpected message with `bytes` of data, listed nowhere yet. Never nullptr: no memory ends the job.
Unexpected* new_unexpected(const Envelope& envelope, uint8_t kind, int64_t bytes, int64_t message_bytes);
void free_unexpected(Unexpected* message);
// Makes it known to receives and probes to come.
void list_unexpected(Lane& lane, Unexpected* message);

// Hands an unexpected message, already taken out of matching, to its receive, and frees it.
void consume(Request& r, Unexpected* message);

}  // namespace weft::core
