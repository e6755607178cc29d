// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The counts of a process, for statistics and MPI's performance variables.

#include <cstdint>

#include "core/thread/thread.hpp"
#include "transport/api/transport.hpp"

namespace weft::core {

// The counts of the process.
struct Counters {
  PathCount sent[path_count];
  uint64_t unexpected = 0;  // messages that came before their receive
  uint64_t retries = 0;     // sends that found the way full
  uint64_t sleeps = 0;      // waits that ended in the kernel
  uint64_t slept_ns = 0;
  uint64_t lock_waits = 0;
  uint64_t settlements = 0;
  uint64_t saturations = 0;    // times senders were asked for envelopes only
  uint64_t reads_failed = 0;   // messages that came by R1 because a read of them failed
  uint64_t writes_failed = 0;  // chunks of R1 that went as messages because a write of them failed
  uint64_t bytes_placed = 0;   // of R1, that senders wrote into our receives
  uint64_t stale = 0;          // answers that came too late, or were to nothing: dropped
  uint32_t lanes = 1;
  uint64_t arrived[transport::max_lanes] = {};  // messages by lane
};

// Unexpected messages: those kept now, and the most that one lane has kept at the same time.
struct UnexpectedCount {
  uint64_t messages = 0;
  uint64_t bytes = 0;
  uint64_t most_messages = 0;
  uint64_t most_bytes = 0;
};

// The counts of all lanes and threads so far. Both may be asked by any thread, also before start() and after
// stop().
Counters counters();
UnexpectedCount kept_messages();

}  // namespace weft::core
