// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The policy for what cannot go on. Core and coll report a failure here, by its cause; no other file of theirs ends the
// process (cmake/check_layers.py). Today every failure ends the job with the message given. A policy that lets the
// program go on changes this file: for a lost peer it returns, after ending what is pending with the peer, and calls
// MPI's error handlers for the others.
//
// failed() may be called by any thread, with locks held.

#include <cstdint>

#include "base/message.hpp"

namespace weft::core {

inline constexpr int32_t unknown_rank = -1;

enum class FailureCause : uint8_t {
  start,   // a setting, the launcher or this host does not let the process take part in the job: before start() returns
  memory,  // there is none for something without which a message or a peer's state would be lost. Operations that can
           // report that to their caller do (Error::no_memory)
  protocol,   // `peer` sent what no correct peer of the same version sends
  transport,  // a transport cannot go on at all: the layer below it refused or ended
  peer,       // `peer` cannot be reached any more, or a message from or to it was lost on its way
};

// `peer` is the rank in the job of the process that the failure is about.
[[noreturn]] void failed(FailureCause cause, int32_t peer, const base::Problem& problem);
[[noreturn]] void failed(FailureCause cause, const base::Problem& problem);

// Sets the function that a failure calls before it ends the process, or none by nullptr: tests jump out of it.
void set_end(void (*to)(const base::Problem& problem));

}  // namespace weft::core
