// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The store of unexpected messages: memory for those that came before their receives, and the limit on it. Matching
// finds them (core/match/match.hpp).

#include "core/lane/lane.hpp"

namespace weft::core {

// Memory for an unexpected message with `bytes` of data, listed nowhere yet. Never nullptr: the job ends when there is
// no memory.
Unexpected* new_unexpected(const Envelope& envelope, uint8_t kind, int64_t bytes, int64_t message_bytes);
void free_unexpected(Unexpected* message);
// Makes it known to receives and probes to come.
void list_unexpected(Lane& lane, Unexpected* message);

// Keeps a message with a copy of these bytes.
[[gnu::noinline]] void keep(const Envelope& envelope, uint8_t kind, const void* data, int64_t bytes,
                            int64_t message_bytes);

// Hands an unexpected message, already taken out of matching, to its receive, and frees it.
void consume(Request& r, Unexpected* message);

}  // namespace weft::core
