// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The policy for what cannot go on. Core and coll report a failure here, by its cause, and so do transports through
// transport_failed() and peer_lost(): no other file of theirs ends the process (cmake/check_layers.py). Today every
// failure ends the job with the message given. A policy that lets the program go on changes this file: it returns from
// peer_lost() after ending what is pending with the peer, and calls MPI's error handlers for the others.
//
// All may be called by any thread, with locks held.

#include <cstdint>

#include "base/message.hpp"

namespace weft::core {

inline constexpr int32_t unknown_rank = -1;

// The process cannot take part in the job: a setting, the launcher or this host does not allow it. Before start() has
// returned, so no other policy than ending the job makes sense.
[[noreturn]] void start_failed(const base::Problem& problem);

// No memory for something without which a message or a peer's state would be lost. Operations that can report a lack of
// memory to their caller do that instead (Error::no_memory).
[[noreturn]] void out_of_memory(const base::Problem& problem);

// `peer` (its rank in the job, or unknown_rank) sent what no correct peer of the same version sends.
[[noreturn]] void protocol_error(int32_t peer, const base::Problem& problem);

// A transport cannot go on at all, with no peer in particular: the layer below it refused or ended.
[[noreturn]] void transport_failed(const base::Problem& problem);

// For tests, which jump out of it: the function that a failure calls before it ends the process; nullptr: none.
void set_end(void (*to)(const base::Problem& problem));

// `rank` of the job cannot be reached any more, or a message from or to it was lost on its way.
[[noreturn]] void peer_lost(int32_t rank, const base::Problem& problem);

}  // namespace weft::core
