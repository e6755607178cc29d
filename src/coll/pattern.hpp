// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Patterns that several plans use. They run among the ranks of a team (coll/team.hpp).

#include <utility>

#include "coll/plan.hpp"
#include "coll/team.hpp"

namespace weft::coll::plan {

// From place `top` to all, along a binomial tree with `top` turned to 0: a place receives from the one without its own
// lowest bit, and sends to those with one bit below that, the largest subtree first.
template <class Way, class Ranks>
void spread(Way& way, const Ranks& ranks, const Block& data, int32_t top) {
  const int64_t size = ranks.size;
  const int64_t turned = (ranks.place - top + size) % size;
  auto rank_at = [&](int64_t place) { return ranks[static_cast<int32_t>((place + top) % size)]; };
  int64_t bit = 1;
  while (bit < size && (turned & bit) == 0) bit *= 2;
  if (turned != 0) {
    way.receive(data, rank_at(turned - bit));
    way.fence();
  }
  for (bit /= 2; bit > 0; bit /= 2) {
    if (turned + bit < size) way.send(data, rank_at(turned + bit));
  }
}

// To place `top`, along the same tree. A rank's partial result always covers consecutive turned places and is the left
// operand of the data from above it, so with top == 0 the order of places is kept. `mine` and `spare` change roles as
// they go; `mine` has the result at `top`.
template <class Way, class Ranks>
void collect(Way& way, const Ranks& ranks, void*& mine, void*& spare, int64_t count, const Reducer& reducer,
             int32_t top) {
  const int64_t size = ranks.size;
  const int64_t turned = (ranks.place - top + size) % size;
  auto rank_at = [&](int64_t place) { return ranks[static_cast<int32_t>((place + top) % size)]; };
  for (int64_t bit = 1; bit < size; bit *= 2) {
    if ((turned & bit) != 0) return way.send(elements_at(mine, count, reducer), rank_at(turned - bit));
    if (turned + bit >= size) continue;
    way.receive(elements_at(spare, count, reducer), rank_at(turned + bit));
    way.fence();
    way.reduce(reducer, mine, spare, count);
    std::swap(mine, spare);
  }
}

}  // namespace weft::coll::plan
