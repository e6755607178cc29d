// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Bruck's algorithm for small blocks of one size: log2(size) messages of half of all blocks instead of size - 1 of one.
// A block for the rank d above travels the distances that d's bits are.

#include "coll/plan/packed.hpp"
#include "coll/plan/plan.hpp"

namespace weft::coll::plan {

template <class Way>
void alltoall_bruck(Way& way, const Blocks& from, const Blocks& to, int64_t block_bytes) {
  const core::Comm& comm = way.comm();
  const int64_t size = comm.size;
  auto rank_at = [&](int64_t distance) { return static_cast<int32_t>((comm.rank + distance + size) % size); };
  const Packed blocks = Packed::make(way, comm.size, block_bytes);  // by distance
  const Packed out = Packed::make(way, comm.size / 2, block_bytes);
  const Packed in = Packed::make(way, comm.size / 2, block_bytes);
  if (blocks.data == nullptr || out.data == nullptr || in.data == nullptr) return;
  for (int32_t d = 0; d < comm.size; ++d) way.copy(from[rank_at(d)], blocks.blocks(d, 1));
  for (int64_t bit = 1; bit < size; bit *= 2) {
    int32_t moved = 0;
    for (int32_t d = 0; d < comm.size; ++d) {
      if ((d & bit) != 0) way.copy(blocks.blocks(d, 1), out.blocks(moved++, 1));
    }
    way.receive(in.blocks(0, moved), rank_at(-bit));
    way.send(out.blocks(0, moved), rank_at(bit));
    way.fence();
    moved = 0;
    for (int32_t d = 0; d < comm.size; ++d) {
      if ((d & bit) != 0) way.copy(in.blocks(moved++, 1), blocks.blocks(d, 1));
    }
  }
  for (int32_t d = 0; d < comm.size; ++d) way.copy(blocks.blocks(d, 1), to[rank_at(-d)]);
}

}  // namespace weft::coll::plan
