// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Blocking collective operations in a shared region (coll/shm/shared_region.hpp): no messages, data go through chunks
// that stay in the caches. Reductions combine the data of ranks in their order, or in an order that depends on the root
// alone: their result does not depend on who comes first.

#include <optional>

#include "coll/plan/block.hpp"
#include "coll/plan/reducer.hpp"
#include "coll/shm/shared_region.hpp"
#include "core/protocol/p2p.hpp"

namespace weft::coll::shm_blocking {

// An operation that begins.
struct WantedOperation {
  Collective collective;
  int64_t bytes;                           // as the table counts them
  int64_t posted;                          // by a rank in all, through chunks
  Algorithms able;                         // that suit the data
  int32_t root = SharedRegion::everybody;  // whose data all wait for, or who waits for those of all
  uint64_t reduction = 0;                  // call::details_of()
  bool mapped = false;                     // large data, which the others reach without the kernel: no copy in between
};

// The region for an operation, ready. nullptr: the operation ends with an error, goes by messages, or may be offloaded
// (ask_offload).
struct RegionEntry {
  SharedRegion* region = nullptr;
  int32_t error = SharedRegion::go_by_messages;
};
[[nodiscard]] RegionEntry enter(core::Comm& comm, const WantedOperation& wanted);
[[nodiscard]] RegionEntry enter_behind_offload(core::Comm& comm, const WantedOperation& wanted);

// For operations that cannot be offloaded.
struct NoOffload {
  std::optional<int32_t> operator()() const { return std::nullopt; }
};

template <class Offloaded>
[[gnu::cold, gnu::noinline]] RegionEntry offload_first(core::Comm& comm, const WantedOperation& wanted,
                                                       const Offloaded& offload) {
  if (const std::optional<int32_t> error = offload()) return {nullptr, *error};
  return enter_behind_offload(comm, wanted);
}

// `operate` in a region, if that is the way for what is wanted, after `offload` where the communicator may: the error
// class of the operation. Nothing: it goes by messages.
template <class Operate, class Offloaded = NoOffload>
[[nodiscard]] std::optional<int32_t> in_region(core::Comm& comm, const WantedOperation& wanted, Operate operate,
                                               Offloaded offload = {}) {
  RegionEntry entry = enter(comm, wanted);
  if (entry.region == nullptr && entry.error == ask_offload) [[unlikely]]
    entry = offload_first(comm, wanted, offload);
  const int32_t error = entry.region != nullptr ? operate(*entry.region) : entry.error;
  if (error == SharedRegion::go_by_messages) return std::nullopt;
  return error;
}

// Algorithms for data that suit a region, or do not.
[[nodiscard]] inline Algorithms if_suits(bool suits) {
  return suits ? Algorithms::blocking() : Algorithms::all();
}
// Whether elements can be reduced where they lie in a region.
[[nodiscard]] inline bool suits(const Reducer& reducer) {
  const Type& type = *reducer.type;
  return !reducer.fixed && type.contiguous && type.size == type.extent && type.size > 0 &&
         type.size <= SharedRegion::line_bytes;
}

[[nodiscard]] int32_t barrier(SharedRegion& region);
[[nodiscard]] int32_t bcast(SharedRegion& region, const Block& data, int32_t root);
// Blocks have one size but for allgather; the operations on blocks in place take the user's own. An operation that has
// a form with a single copy (coll/shm/single_copy.hpp) takes it when the region says so.
[[nodiscard]] int32_t gather(SharedRegion& region, const Block& mine, const Blocks& all, int64_t block_bytes,
                             int32_t root);
[[nodiscard]] int32_t scatter(SharedRegion& region, const Blocks& all, const Block& mine, int64_t block_bytes,
                              int32_t root);
// Blocks of any size, which only the root and the rank it is of know; large ones go by messages.
[[nodiscard]] int32_t gatherv(core::Comm& comm, SharedRegion& region, const Block& mine, const Blocks& all,
                              int32_t root);
[[nodiscard]] int32_t scatterv(core::Comm& comm, SharedRegion& region, const Blocks& all, const Block& mine,
                               int32_t root);
[[nodiscard]] int32_t allgather(SharedRegion& region, const Block& mine, const Blocks& all, int64_t largest_bytes);
[[nodiscard]] int32_t alltoall(SharedRegion& region, const Blocks& from, const Blocks& to, int64_t block_bytes);
// Blocks of any size, which only the two ranks know.
[[nodiscard]] int32_t alltoallv(SharedRegion& region, const Blocks& from, const Blocks& to);
[[nodiscard]] int32_t reduce(SharedRegion& region, const void* send, void* receive, int64_t count,
                             const Reducer& reducer, int32_t root);
[[nodiscard]] int32_t allreduce(SharedRegion& region, const void* send, void* receive, int64_t count,
                                const Reducer& reducer);
[[nodiscard]] int32_t scan(SharedRegion& region, const void* send, void* receive, int64_t count, const Reducer& reducer,
                           bool inclusive);
// Through chunks `send` is not `receive`.
[[nodiscard]] int32_t reduce_scatter(SharedRegion& region, const void* send, void* receive, const Array& counts,
                                     int64_t total, const Reducer& reducer);

}  // namespace weft::coll::shm_blocking
