// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Recursive halving: in each step a rank gives the half of its blocks that the other half of the ranks needs, and takes
// in as much of its own, so that log2(size) messages do where pairs take size - 1. For operations that commute.

#include "coll/plan/channel.hpp"
#include "coll/plan/plan.hpp"

namespace weft::coll::plan {

// `parts` are the blocks of our data, which follow one another; `total` elements.
template <class Way>
void reduce_scatter_halving(Way& way, const Blocks& parts, int64_t total, void* receive, const Reducer& reducer) {
  const Comm& comm = way.comm();
  void* sums = way.elements(*reducer.type, total);
  void* spare = way.elements(*reducer.type, total);
  if (sums == nullptr || spare == nullptr) return;
  void* const ours = parts[0].data;
  void* mine = ours;  // the caller's data, and from the first sum on `sums`

  // Ranks beyond a power of two fold into their odd neighbours first, and get their blocks last.
  int32_t power = 1;
  while (power <= comm.size / 2) power *= 2;
  const int32_t folded = comm.size - power;  // pairs (2v, 2v + 1) for v below this
  const int32_t vertex = comm.rank < 2 * folded ? comm.rank / 2 : comm.rank - folded;
  auto first_rank = [folded](int32_t v) { return v < folded ? 2 * v : v + folded; };
  auto rank_of = [folded](int32_t v) { return v < folded ? 2 * v + 1 : v + folded; };

  // The blocks of the ranks behind some vertices, in any memory that is laid out as our data are.
  struct BlockRange {
    void* at;
    int64_t count;
  };
  auto range = [&](void* memory, int32_t from, int32_t to) {
    const Block first = parts[first_rank(from)];
    int64_t count = 0;
    for (int32_t r = first_rank(from); r < first_rank(to); ++r) count += parts[r].count;
    const auto offset = reinterpret_cast<uintptr_t>(first.data) - reinterpret_cast<uintptr_t>(ours);
    return BlockRange{reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(memory) + offset), count};
  };
  auto send = [&](const BlockRange& data, int32_t rank) {
    if (data.count > 0) way.send(elements_at(data.at, data.count, reducer), rank);
  };
  auto take = [&](const BlockRange& data, int32_t rank) {
    if (data.count > 0) way.receive(elements_at(data.at, data.count, reducer), rank);
  };
  // Adds the data in `came` to ours, of these vertices.
  auto combine = [&](void* came, int32_t from, int32_t to) {
    const BlockRange in = range(came == sums ? mine : came, from, to);
    const BlockRange sum = range(sums, from, to);
    if (sum.count > 0) way.reduce(reducer, in.at, sum.at, sum.count);
    mine = sums;
  };
  // The memory for incoming data is `sums` until that holds a sum, and `spare` from then on.
  auto incoming = [&] { return mine == ours ? sums : spare; };

  if (comm.rank < 2 * folded) {
    if (comm.rank % 2 == 0) {
      send(range(mine, 0, power), comm.rank + 1);
      way.fence();
      if (parts[comm.rank].count > 0) {
        way.receive(elements_at(receive, parts[comm.rank].count, reducer), comm.rank + 1);
      }
      return;
    }
    take(range(sums, 0, power), comm.rank - 1);
    way.fence();
    combine(sums, 0, power);
  }
  int32_t low = 0;
  int32_t high = power;
  for (int32_t bit = power / 2; bit > 0; bit /= 2) {
    const int32_t middle = low + bit;
    const int32_t other = rank_of(vertex ^ bit);
    const bool is_upper = (vertex & bit) != 0;
    const BlockRange given = is_upper ? range(mine, low, middle) : range(mine, middle, high);
    (is_upper ? low : high) = middle;
    void* const room = incoming();
    take(range(room, low, high), other);
    send(given, other);
    way.fence();
    combine(room, low, high);
  }
  if (vertex < folded) {
    const BlockRange theirs = range(mine, vertex, vertex + 1);
    if (parts[comm.rank - 1].count > 0) {
      way.send(elements_at(theirs.at, parts[comm.rank - 1].count, reducer), comm.rank - 1);
    }
  }
  const int64_t count = parts[comm.rank].count;
  const auto offset = reinterpret_cast<uintptr_t>(parts[comm.rank].data) - reinterpret_cast<uintptr_t>(ours);
  void* const result = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(mine) + offset);
  if (count > 0) way.copy(elements_at(result, count, reducer), elements_at(receive, count, reducer));
}

}  // namespace weft::coll::plan
