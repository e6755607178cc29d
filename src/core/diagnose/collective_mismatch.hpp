// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Ranks that disagree about a collective operation, by messages, may wait for ever: each follows the algorithm that its
// own bytes choose. No right program pays for finding that out. A rank that has waited in a collective operation for
// WEFT_DISAGREE_SECONDS says to others of the communicator which call it is in, some times, a second apart. A rank that
// was in another call when that operation was its turn answers. The one that waits then ends the job with a message
// that names both calls.
//
// A rank looks for the operation among the last calls of its threads (past_ring), which its contexts and numbers name:
// numbers are counted alike on all ranks. Both are used again when a communicator is gone, so what was said and done
// before that is forgotten then; and nothing is believed that was heard once only.

#include <cstdint>

namespace weft::core {

struct WaitRecord;
struct Past;
struct Request;

// The calling thread waits as `wait_record` says, since then, and holds nothing.
void ask_others(const WaitRecord& wait_record, uint64_t since_ns, uint64_t now_ns);

// A communicator with this context is gone from this process.
void forget_calls(uint32_t context);

// By the layer that makes requests of collective operations: the call behind one; nullptr: none.
using CallOf = const Past* (*)(const Request& request);
void set_call_of(CallOf call_of);

}  // namespace weft::core
