// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A reduction of much data, for one rank or for all: recursive halving, so that each rank reduces a part of the data,
// then the parts are gathered by the root, or by recursive doubling by all (Rabenseifner). A rank sends about the data
// twice, where along a tree, and by recursive doubling, some rank sends or takes them log2(size) times. Neighbours come
// first, with the largest parts; so the order of ranks is kept.

#include <utility>

#include "coll/plan/channel.hpp"
#include "coll/plan/plan.hpp"
#include "coll/plan/team.hpp"

namespace weft::coll::plan {

inline constexpr int32_t all_ranks = -1;

// There are at least as many elements as ranks. Our data are in `result`, and `spare` holds as many. The result is for
// all ranks, or for the one in place `root`.
template <class Way, class Ranks>
void reduce_split(Way& way, const Ranks& ranks, void* result, void* spare, int64_t count, const Reducer& reducer,
                  int32_t root) {
  struct SplitRange {
    int64_t first;
    int64_t count;
  };
  auto at = [&reducer](void* data, int64_t first) {
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(data) +
                                   static_cast<uintptr_t>(first * reducer.type->extent));
  };
  auto block = [&](void* data, const SplitRange& part) {
    return elements_at(at(data, part.first), part.count, reducer);
  };
  const SplitRange whole{0, count};
  void* mine = result;
  // Takes in the data that came into `spare`, of ranks directly below or above those that `mine` is of.
  auto combine = [&](const SplitRange& part, bool from_below) {
    if (from_below) return way.reduce(reducer, at(spare, part.first), at(mine, part.first), part.count);
    way.reduce(reducer, at(mine, part.first), at(spare, part.first), part.count);
    std::swap(mine, spare);
  };

  // Ranks beyond a power of two fold into their odd neighbours first and get the result last.
  int32_t power = 1;
  while (power <= ranks.size / 2) power *= 2;
  const int32_t folded = ranks.size - power;  // pairs (2i, 2i + 1) for i below this
  const int32_t place = ranks.place;
  if (place < 2 * folded) {
    if (place % 2 == 0) {
      way.send(block(mine, whole), ranks[place + 1]);
      if (root != all_ranks && root != place) return;
      way.fence();
      return way.receive(block(result, whole), ranks[place + 1]);
    }
    way.receive(block(spare, whole), ranks[place - 1]);
    way.fence();
    combine(whole, true);
  }
  auto vertex_of = [folded](int32_t p) { return p < 2 * folded ? p / 2 : p - folded; };
  const int32_t vertex = vertex_of(place);
  auto partner = [&](int32_t bit) {
    const int32_t other = vertex ^ bit;
    return ranks[other < folded ? 2 * other + 1 : other + folded];
  };

  constexpr int most_steps = 31;
  SplitRange kept[most_steps];
  SplitRange given[most_steps];
  SplitRange part = whole;
  int steps = 0;
  for (int32_t bit = 1; bit < power; bit *= 2, ++steps) {
    const bool is_upper = (vertex & bit) != 0;
    const int64_t half = part.count / 2;
    const SplitRange lower{part.first, half};
    const SplitRange upper{part.first + half, part.count - half};
    part = kept[steps] = is_upper ? upper : lower;
    given[steps] = is_upper ? lower : upper;
    way.receive(block(spare, part), partner(bit));
    way.send(block(mine, given[steps]), partner(bit));
    way.fence();
    combine(part, is_upper);
  }
  if (mine != result) way.copy(block(mine, part), block(result, part));
  const int32_t away = root == all_ranks ? 0 : vertex ^ vertex_of(root);  // the steps that bring us no part
  for (int32_t bit = power / 2; bit > 0; bit /= 2) {
    --steps;
    const bool gives = root == all_ranks || (away & bit) != 0;
    if ((away & bit) == 0) way.receive(block(result, given[steps]), partner(bit));
    if (gives) way.send(block(result, kept[steps]), partner(bit));
    if (away & bit) return;
    way.fence();
  }
  if (place < 2 * folded && (root == all_ranks || root == place - 1)) way.send(block(result, whole), ranks[place - 1]);
}

// Reduces among all ranks of the communicator, host by host where the order of ranks allows it. `root` is a rank, or
// all_ranks.
template <class Way>
void reduce_split(Way& way, void* result, void* spare, int64_t count, const Reducer& reducer, int32_t root) {
  const Comm& comm = way.comm();
  if (!reducer.commutative && !by_host_in_order(comm)) {
    return reduce_split(way, Everybody(comm), result, spare, count, reducer, root);
  }
  const int32_t place = root == all_ranks ? all_ranks : place_of(comm, root);
  reduce_split(way, host_by_host(comm), result, spare, count, reducer, place);
}

}  // namespace weft::coll::plan
