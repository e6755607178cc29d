// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Between the files of the paths. Each path is one file with both of its halves, its handlers and its row of PathInfo;
// path.cpp decides which one a send takes, r0_get.cpp how the data of a matched RTS come.
//
// All of this runs under the lock of the lane concerned: the home lane of a send, the lane that a message came on.

#include <vector>

#include "core/lane/lane.hpp"
#include "core/lane/progress_hooks.hpp"
#include "core/message/completion.hpp"
#include "core/message/handler.hpp"
#include "core/message/path.hpp"
#include "core/message/send_queue.hpp"
#include "core/message/unexpected.hpp"
#include "core/peer/peer.hpp"
#include "core/peer/request_number.hpp"
#include "core/protocol/wire.hpp"

namespace weft::core {

inline Lane& lane_of(const transport::Arrival& a) {
  return lanes->all[a.envelope.lane];
}

// The receive that an arriving message is for; nullptr: it is unexpected.
inline Request* match(const transport::Arrival& a) {
  return lane_of(a).matcher.take_receive(a.envelope, lanes->any_tags);
}

// The peer that a message names as its sender, with the lane of it that the answer goes to. A rank or lane that does
// not exist, and a rank that this message is not from, are protocol errors.
Peer& sender_of(const transport::Arrival& a, int32_t rank, uint32_t lane = 0);
// The RTS that a message brings: of its sender, and of a size that there can be. Another is a protocol error.
wire::Rts rts_of(const transport::Arrival& a);

// The staged data that a message of this peer names; nullptr: they are written already. Data that are not there are a
// protocol error.
const void* staged(const transport::Arrival& a, const Peer& peer, uint64_t handle, uint64_t bytes);

// Our send that a message answers; nullptr: none waits for it. The message is dropped, and counted.
Request* answered(const transport::Arrival& a, uint64_t send);

// For a send that will not be sent: its number, if it has one, comes without it (core/lane/sequence_numbers.hpp).
// send_unsent() sends or queues that, try_unsent() tells by false that the way is full.
void send_unsent(const Request& r);
[[nodiscard]] bool try_unsent(const Request& r);

// ---- sending. `false`: the way is full, nothing was sent.
bool send_mailbox(Request& r);
bool send_buffer(Request& r, bool* no_staging);
bool push(Request& r, bool* refused);
bool send_rts(Request& r);

// Streams (R1) of a peer that come in on a lane: how many there are; and their end when the peer is lost: the receives
// of those that are matched are appended to `ended`, the other messages forgotten.
int64_t count_streams_in(const Lane& lane, const Peer& peer);
void end_streams_in(Lane& lane, const Peer& peer, std::vector<Request*>& ended);

// Counts, and ends, receives that are copied between the two memories (R0), by both sides, a transport or a device; one
// whose memory a transport still fills ends when that is over.
int64_t count_readings(const Lane& lane, const Peer& peer);
int64_t count_shares(const Lane& lane, const Peer& peer);
void end_shares(Lane& lane, const Peer& peer, std::vector<Request*>& ended);
void end_readings(Lane& lane, const Peer& peer, std::vector<Request*>& ended);
int64_t count_loadings(const Lane& lane, const Peer& peer);
void end_loadings(Lane& lane, const Peer& peer, std::vector<Request*>& ended);
// Completes a request with the error that its peer was lost with.
void end_lost(Request& r, int32_t error);

// Ends the registration of the memory that an RTS named, if there is one.
void deregister(Request& r);

// ---- receiving
// The send is complete: all data that the receiver wants are there.
void send_fin(Peer& peer, uint32_t lane, uint64_t send);

// R0 of large messages: sender and receiver copy together. share() returns false when it cannot be done that way.
bool share(Request& r, const Envelope& envelope, const wire::Rts& rts, int64_t wanted);
// A receive that both sides were to copy, of whose data the sender has taken all, to stream them. False: there is none.
struct Handed {
  Request* receive;
  Envelope envelope;
  int64_t message_bytes;
  int64_t wanted;
};
[[nodiscard]] bool hand_over(Lane& lane, int32_t origin, uint64_t send, Handed& over);
// Stops our help with this send: the receiver has all it wants of it.
void drop_push(Lane& lane, const Request& send);

// R0 of data on a device. goes_by_device(): a send that the receiver is to load. load() returns false when that cannot
// be done.
bool goes_by_device(const Request& r);
bool load(Request& r, const Envelope& envelope, Peer& peer, const wire::Rts& rts, const device::Shared& allocation,
          int64_t wanted);

// R0 of a receive on a device, from the host's memory of a peer: copies its bytes [position, position + bytes) through
// pinned memory. It returns what get_data() returns.
[[nodiscard]] int get_to_device(Lane& lane, Peer& peer, const MemoryRef& from, const Request& r, int64_t position,
                                int64_t bytes);

// A receive in pinned memory, from where a device copies, in place of one on a device from the host's memory of a peer:
// so both sides may copy, and that of one message beside the device's of another. nullptr: better not.
[[nodiscard]] Request* land(Request& r, const Envelope& envelope, Peer& peer, int64_t message_bytes, int64_t wanted);

// Before data on a device go through staging memory: the device reaches it faster from then on.
void pin_staging(Peer& peer);

// R0 of a receive without gaps, by whatever way its transport reads; unreadable data come by R1.
void read(Request& r, const Envelope& envelope, Peer& peer, const wire::Rts& rts, int64_t wanted);

// R0 of a request that may have gaps: its bytes [position, position + bytes), from or to the peer's memory in one
// piece. 0, or the errno that says why not.
[[nodiscard]] int get_layout(Lane& lane, Peer& peer, const MemoryRef& from, const Request& r, int64_t position,
                             int64_t bytes);
[[nodiscard]] inline int get_data(Lane& lane, Peer& peer, const MemoryRef& from, const Request& r, int64_t position,
                                  int64_t bytes) {
  if (r.layout != nullptr || r.flags.on_device) return get_layout(lane, peer, from, r, position, bytes);
  return peer.endpoint->get(transport::advanced(from, static_cast<uint64_t>(position)),
                            static_cast<char*>(r.buffer) + position, static_cast<size_t>(bytes));
}
[[nodiscard]] int put_data(Lane& lane, Peer& peer, const MemoryRef& to, const Request& r, int64_t position,
                           int64_t bytes);
// The lane's buffer of lane_chunk_bytes; nullptr: no memory.
char* chunk_of(Lane& lane);
// From a send of ours to a receive of ours, one of which has gaps.
void copy_own(const Request& send, const Request& receive, int64_t bytes);

// R1: asks for a matched message by a stream.
void send_cts(Request& r, const Envelope& envelope, Peer& peer, uint32_t their_lane, uint64_t send,
              int64_t message_bytes, int64_t wanted);
// R1: begins the stream of a send whose `limit`, `target` and `their_lane` are set.
void start_stream(Request& r);
// R1: begins the stream of a send that was announced, as far as the receiver wants it, to a lane of the peer's.
void stream_to(Request& r, int64_t limit, const MemoryRef& target, uint16_t their_lane);
// Whether a message of so many bytes of private memory may be streamed between two ranks of this host: both have a
// processor to copy with.
bool may_stream(int64_t bytes);
// Notes how the data of a receive come, on this lane, and when this began.
void note_begin(Request& r, const Lane& lane, transport::Way way);
// They are here: the time is noted. `source` sent them.
void note_end(const Request& r, const Peer& source, int64_t bytes);
// Moves the data of a lane's streams as far as staging memory allows; whether anything moved.
bool advance_streams(Lane& lane);

}  // namespace weft::core
