// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Handlers of active messages. The action of each kind on arrival is one row beside the code that performs it; the
// linker collects the rows, as it does settings, so no file lists the kinds.
//
//   constinit const Handler rts_handler{
//       .kind = wire::rts, .least_bytes = sizeof(wire::Rts), .name = "RTS", .take = on_rts};
//   WEFT_HANDLER(rts_handler);
//
// A subsystem numbers its kinds where it describes its messages: 1 to 15 are the paths' (core/protocol/wire.hpp), 16 to
// 19 those of windows (core/rma/wire.hpp), 20 that of context numbers, 21 of processes that leave, 22 of ranks that
// wait (core/diagnose/collective_mismatch.cpp); the next is 23. Two rows of one kind end the job at its start, and fail
// unit/core_handler.

#include <cstdint>
#include <span>
#include <string>

#include "core/match/match.hpp"
#include "transport/api/transport.hpp"

namespace weft::core {

using transport::kind_limit;

struct Handler {
  uint8_t kind;
  uint32_t least_bytes;  // of data: shorter messages are rejected before take()
  const char* name;
  // Runs with the lane held that the message came on: it may send, but neither wait nor raise errors.
  void (*take)(const transport::Arrival& arrival);
  // Kinds whose messages may be kept as unexpected: receives the message, which is out of matching and freed
  // afterwards. true: it is still filled, and its path frees it.
  bool (*consume)(Request& receive, Unexpected& message) = nullptr;
  bool pushed = false;  // its data follow the message: Arrival::pushed
};

// Collects a row at link time.
#define WEFT_HANDLER(row) \
  [[gnu::used, gnu::section("weft_handlers")]] static constinit const ::weft::core::Handler* const row##_entry = &row

// All rows of this binary.
std::span<const Handler* const> all_handlers();
// The mistake in the rows: two of a kind, or a kind out of range. Empty when there is none.
[[nodiscard]] std::string check_handlers(std::span<const Handler* const> rows);
// Makes the rows known to the functions below; wrong ones end the job.
void open_handlers();

// The row of a kind; nullptr: there is none.
const Handler* handler_of(uint8_t kind);

// Hands a message to its handler. An unknown kind, a message that is too short, and one whose data come in another way
// than its kind's are protocol errors.
void on_arrival(const transport::Arrival& arrival);
// Does so for transports that core polls, or is called by, and counts the message for its lane, as receive_ring() does.
void on_counted_arrival(const transport::Arrival& arrival);
// Does so for transports that cannot drain (Capabilities::drains): messages with a stamp are numbered.
void on_numbered_arrival(const transport::Arrival& arrival);

// Handlers whose message says how long it is call it: a shorter one is a protocol error.
void check_size(const transport::Arrival& arrival, size_t bytes);

// Whether a message may be from this rank, which it names as its sender.
[[nodiscard]] bool is_from(const transport::Arrival& arrival, int32_t rank);

// The first bytes of a message, at most `least_bytes` of them.
template <class Payload>
Payload payload_of(const transport::Arrival& arrival) {
  Payload payload;
  __builtin_memcpy(&payload, arrival.data, sizeof payload);
  return payload;
}

}  // namespace weft::core
