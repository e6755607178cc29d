// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Blocking collective operations on large data: the ranks synchronise in a shared region (coll/shm/shared_region.hpp),
// and each reads what it needs from the buffers of the others, once. A rank returns when nobody reads its buffers any
// more. Reductions combine in the order of ranks, as those through chunks do: their results are the same.

#include "coll/plan/block.hpp"
#include "coll/plan/reducer.hpp"
#include "coll/shm/shared_region.hpp"

namespace weft::coll::single_copy {

// Blocks of any layout and size.
[[nodiscard]] int32_t allgather(SharedRegion& region, const Block& mine, const Blocks& all);
[[nodiscard]] int32_t alltoall(SharedRegion& region, const Blocks& from, const Blocks& to);
// Types without gaps (shm_blocking::suits). In place: `send` is `receive`.
[[nodiscard]] int32_t reduce(SharedRegion& region, const void* send, void* receive, int64_t count,
                             const Reducer& reducer, int32_t root);
[[nodiscard]] int32_t allreduce(SharedRegion& region, const void* send, void* receive, int64_t count,
                                const Reducer& reducer);
[[nodiscard]] int32_t reduce_scatter(SharedRegion& region, const void* send, void* receive, const Array& counts,
                                     const Reducer& reducer);
[[nodiscard]] int32_t scan(SharedRegion& region, const void* send, void* receive, int64_t count, const Reducer& reducer,
                           bool inclusive);

}  // namespace weft::coll::single_copy
