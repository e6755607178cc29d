// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Each rank gets its block from every other one and reduces it. A rank sends and receives what it has once, in
// size - 1 messages; no rank sees to more than its own block. For operations that commute.

#include "coll/plan/channel.hpp"
#include "coll/plan/plan.hpp"

namespace weft::coll::plan {

// `parts` are the blocks of our data.
template <class Way>
void reduce_scatter_pairwise(Way& way, const Blocks& parts, void* receive, const Reducer& reducer) {
  const Comm& comm = way.comm();
  const int64_t count = parts[comm.rank].count;
  // Aside: in place, `receive` is where other blocks are sent from.
  void* sum = way.elements(*reducer.type, count);
  void* spare = way.elements(*reducer.type, count);
  if (sum == nullptr || spare == nullptr) return;
  way.copy(parts[comm.rank], elements_at(sum, count, reducer));
  for (int32_t step = 1; step < comm.size; ++step) {
    const int32_t target = (comm.rank + step) % comm.size;
    if (count > 0) way.receive(elements_at(spare, count, reducer), (comm.rank + comm.size - step) % comm.size);
    if (parts[target].count > 0) way.send(parts[target], target);
    way.fence();
    if (count > 0) way.reduce(reducer, spare, sum, count);
  }
  way.copy(elements_at(sum, count, reducer), elements_at(receive, count, reducer));
}

}  // namespace weft::coll::plan
