// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A reduction of much data, round a ring: each part is reduced on its way to the rank that completes it, and goes from
// there to the root, or round the ring once more to all. A rank sends and receives about the data twice at most, for
// any number of ranks, in up to 2 (size - 1) steps. For operations that commute.

#include <algorithm>

#include "coll/algorithm/reduce_split.hpp"
#include "coll/plan/channel.hpp"
#include "coll/plan/plan.hpp"
#include "coll/plan/team.hpp"

namespace weft::coll::plan {

// There are at least as many elements as ranks. Our data are in `result`, and `spare` holds a part. The result is for
// all ranks, or for the one in place `root`.
template <class Way, class Ranks>
void reduce_ring(Way& way, const Ranks& ranks, void* result, void* spare, int64_t count, const Reducer& reducer,
                 int32_t root) {
  const int32_t size = ranks.size;
  auto first = [&](int64_t p) { return count / size * p + std::min<int64_t>(p, count % size); };
  // The part `back` places behind us.
  auto part = [&](int32_t back) {
    const int64_t p = (ranks.place + 2 * int64_t{size} - back) % size;
    const auto offset = static_cast<uintptr_t>(first(p) * reducer.type->extent);
    void* const at = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(result) + offset);
    return elements_at(at, first(p + 1) - first(p), reducer);
  };
  const int32_t next = ranks[(ranks.place + 1) % size];
  const int32_t before = ranks[(ranks.place + size - 1) % size];
  for (int32_t step = 0; step < size - 1; ++step) {
    const Block sum = part(step + 1);
    way.receive(elements_at(spare, sum.count, reducer), before);
    way.send(part(step), next);
    way.fence();
    way.reduce(reducer, spare, sum.data, sum.count);
  }
  if (root != all_ranks) {  // we have completed the part before us
    if (root != ranks.place) return way.send(part(-1), ranks[root]);
    for (int32_t p = 0; p < size; ++p) {
      if (p != root) way.receive(part(root - p - 1), ranks[p]);
    }
    return;
  }
  for (int32_t step = -1; step < size - 2; ++step) {
    way.receive(part(step + 1), before);
    way.send(part(step), next);
    way.fence();
  }
}

}  // namespace weft::coll::plan
