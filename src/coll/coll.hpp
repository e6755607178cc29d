// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Collective operations on core's communicators (MPI-5.0, chapter 6). All return an error class; arguments are checked
// by the caller. An operation that fails on one rank goes on with its part, so that the others are not left waiting.

#include "coll/plan/block.hpp"
#include "coll/plan/reducer.hpp"
#include "core/protocol/p2p.hpp"

namespace weft::coll {

using core::Comm;

[[nodiscard]] int32_t barrier(Comm& comm);
[[nodiscard]] int32_t bcast(Comm& comm, void* buffer, int64_t count, Type& type, int32_t root);

// Data that goes round in blocks, one per rank. The in-place forms take a block, or blocks, that are in_place().
// Arguments of the root alone are ignored elsewhere, but for the size of blocks that are regular(): all ranks give
// that.
[[nodiscard]] int32_t gather(Comm& comm, const Block& mine, const Blocks& all, int32_t root);
[[nodiscard]] int32_t scatter(Comm& comm, const Blocks& all, const Block& mine, int32_t root);
[[nodiscard]] int32_t allgather(Comm& comm, const Block& mine, const Blocks& all);
// `mapped`: as all ranks know, ranks of a host reach what each of them sends without the kernel.
[[nodiscard]] int32_t alltoall(Comm& comm, const Blocks& from, const Blocks& to, bool mapped = false);

// Reductions. In place: `send` is `receive`.
[[nodiscard]] int32_t reduce(Comm& comm, const void* send, void* receive, int64_t count, const Reducer& reducer,
                             int32_t root);
[[nodiscard]] int32_t allreduce(Comm& comm, const void* send, void* receive, int64_t count, const Reducer& reducer);
[[nodiscard]] int32_t scan(Comm& comm, const void* send, void* receive, int64_t count, const Reducer& reducer);
[[nodiscard]] int32_t exscan(Comm& comm, const void* send, void* receive, int64_t count, const Reducer& reducer);

// Rank r gets counts[r] elements of the result.
[[nodiscard]] int32_t reduce_scatter(Comm& comm, const void* send, void* receive, const Array& counts,
                                     const Reducer& reducer);

}  // namespace weft::coll
