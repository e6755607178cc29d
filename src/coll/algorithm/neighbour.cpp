// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/algorithm/neighbour.hpp"

namespace weft::coll {

namespace {

// Messages between two ranks keep their order, and Neighbours says which of several neighbours a receive is for.
template <class BlockTo>
void exchange(Schedule& s, const Neighbours& neighbours, BlockTo&& block_to, const Blocks& to) {
  for (size_t k = 0; k < neighbours.sources.size(); ++k) {
    const size_t i = neighbours.receive_at(k);
    const Block block = to[static_cast<int32_t>(i)];
    if (neighbours.sources[i] != core::proc_null && block.bytes() > 0) s.receive(block, neighbours.sources[i]);
  }
  for (size_t k = 0; k < neighbours.destinations.size(); ++k) {
    const Block block = block_to(static_cast<int32_t>(k));
    if (neighbours.destinations[k] != core::proc_null && block.bytes() > 0) s.send(block, neighbours.destinations[k]);
  }
}

}  // namespace

void neighbour_allgather(Schedule& s, const Neighbours& neighbours, const Block& mine, const Blocks& to) {
  exchange(
      s, neighbours, [&](int32_t) { return mine; }, to);
}

void neighbour_alltoall(Schedule& s, const Neighbours& neighbours, const Blocks& from, const Blocks& to) {
  exchange(
      s, neighbours, [&](int32_t k) { return from[k]; }, to);
}

}  // namespace weft::coll
