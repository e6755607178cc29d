// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Point-to-point operations on core's objects, for src/mpi and src/coll. Arguments are checked by the caller.

#include "core/message/prepare.hpp"
#include "core/object/comm.hpp"
#include "core/progress/waiting.hpp"

namespace weft::core {

// The result of a completed receive or a probe.
struct Outcome {
  int32_t source = proc_null;
  int32_t tag = any_tag;
  int32_t error = no_error;
  int64_t bytes = 0;
  bool cancelled = false;
};

// Starts a described send to rank `dest` of the request's communicator in `context`: by whatever path its size and the
// peer's state ask for. The request is done at once when the data left or was copied.
void start_send(Request& r, uint32_t context, int32_t dest, int32_t tag);

// Starts a described receive: matches it with a message that came before, or posts it.
void start_receive(Request& r, uint32_t context, int32_t source, int32_t tag);

// Starts a receive whose messages come by one lane: it has a tag, or its communicator has one lane.
void start_lane_receive(Request& r, uint32_t context, int32_t source, int32_t tag);

// send_now() in core/message/send_now.hpp is the short way of a small contiguous message; false when it must go this
// general way.

// Blocking forms, used by collective operations. They return an error class.
int32_t send(Comm& comm, uint32_t context, const void* buffer, int64_t count, Type& type, int32_t dest, int32_t tag);
int32_t receive(Comm& comm, uint32_t context, void* buffer, int64_t count, Type& type, int32_t source, int32_t tag,
                Outcome* outcome = nullptr);
int32_t send_receive(Comm& comm, uint32_t context, const void* send_buffer, int64_t send_count, Type& send_type,
                     int32_t dest, void* receive_buffer, int64_t receive_count, Type& receive_type, int32_t source,
                     int32_t tag);

// Takes a started operation back if it can still be. Sends that left are not recalled.
void cancel(Request& r);

// Looks for a message without receiving it.
[[nodiscard]] bool probe(uint32_t context, int32_t source, int32_t tag, Outcome* outcome);

// Takes a message out of matching; nullptr when there is none. receive_matched() receives it later.
[[nodiscard]] Unexpected* take_message(uint32_t context, int32_t source, int32_t tag, Outcome* outcome);
void receive_matched(Request& r, Unexpected* message);

// Whether a request that is not yet freed belongs to this communicator; whether one of them is under way.
[[nodiscard]] bool in_use(const Comm& comm);
[[nodiscard]] bool has_pending(const Comm& comm);

// Gives an operation under way a follow-up, `on_done`, unless it is complete already: then false.
[[nodiscard]] bool follow_up(Request& r, bool (*on_done)(Request&));

}  // namespace weft::core
