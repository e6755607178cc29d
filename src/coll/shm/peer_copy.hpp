// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Nonblocking and persistent collective operations on large data between ranks of one host. Each rank copies what it
// needs from the buffers of the others, once; of a reduction it combines its share of all data, in the order of ranks,
// and writes the sums into the buffers where they are wanted. Messages, of a few dozen bytes, tell when:
//
//   1. A rank tells each other one where its data are, how long they are, where results go, and whether it can reach
//      the memory of all others.
//   2. When it has heard from all, it copies.
//   3. It tells each other one that it has, or has failed to, and is done when all have told it.
//
// These are steps of a schedule, so an operation goes on, waits and fails as others do, and any number of them may be
// under way on a communicator. If a rank cannot reach another one's memory, all hear so in the first step, and they all
// take the steps of `otherwise`, by messages. Errors leave out copies, never messages: no rank waits for one that has
// given up.

#include <functional>

#include "coll/plan/reducer.hpp"
#include "coll/plan/schedule.hpp"

namespace weft::coll::peer_copy {

using Otherwise = std::function<void()>;

// Types that suit (shm_blocking::suits). In place: `send` is `receive`.
void reduce(Schedule& way, const void* send, void* receive, int64_t count, const Reducer& reducer, int32_t root,
            const Otherwise& otherwise);
void allreduce(Schedule& way, const void* send, void* receive, int64_t count, const Reducer& reducer,
               const Otherwise& otherwise);
void reduce_scatter(Schedule& way, const void* send, void* receive, const Array& counts, const Reducer& reducer,
                    const Otherwise& otherwise);

// Blocks of any layout; those of allgather of any size.
void allgather(Schedule& way, const Block& mine, const Blocks& all, const Otherwise& otherwise);
void alltoall(Schedule& way, const Blocks& from, const Blocks& to, const Otherwise& otherwise);

}  // namespace weft::coll::peer_copy
