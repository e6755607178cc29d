// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Patterns that several plans use. They run among the ranks of a team (coll/plan/team.hpp).

#include <algorithm>
#include <utility>

#include "coll/plan/packed.hpp"
#include "coll/plan/plan.hpp"
#include "coll/plan/team.hpp"
#include "core/object/tree.hpp"

namespace weft::coll::plan {

// The rank so many places after ours, counted round.
template <class Ranks>
auto after(const Ranks& ranks, int64_t distance) {
  return ranks[static_cast<int32_t>((ranks.place + distance) % ranks.size)];
}

// From place `top` to all, along a binomial tree (core/object/tree.hpp), to the largest subtree first.
template <class Way, class Ranks>
void spread(Way& way, const Ranks& ranks, const Block& data, int32_t top) {
  const core::TreePlace tree = core::tree_place(ranks.place, ranks.size, top);
  if (tree.above >= 0) {
    way.receive(data, ranks[tree.above]);
    way.fence();
  }
  for (int32_t i = tree.below; i-- > 0;) way.send(data, after(ranks, int64_t{1} << i));
}

// To place `top`, along the same tree. A rank's partial result always covers consecutive turned places and is the left
// operand of the data from below it, so with top == 0 the order of places is kept. `mine` and `spare` change roles as
// they go; `mine` has the result at `top`.
template <class Way, class Ranks>
void collect(Way& way, const Ranks& ranks, void*& mine, void*& spare, int64_t count, const Reducer& reducer,
             int32_t top) {
  const core::TreePlace tree = core::tree_place(ranks.place, ranks.size, top);
  for (int32_t i = 0; i < tree.below; ++i) {
    way.receive(elements_at(spare, count, reducer), after(ranks, int64_t{1} << i));
    way.fence();
    way.reduce(reducer, mine, spare, count);
    std::swap(mine, spare);
  }
  if (tree.above >= 0) way.send(elements_at(mine, count, reducer), ranks[tree.above]);
}

// The places below ours in the tree whose top is `top`, ours with them: turned, they are consecutive.
template <class Ranks>
int32_t subtree(const Ranks& ranks, int32_t top) {
  const int32_t turned = (ranks.place - top + ranks.size) % ranks.size;
  const int32_t lowest_bit = turned & -turned;
  return turned == 0 ? ranks.size : std::min(lowest_bit, ranks.size - turned);
}

// The blocks of a subtree, packed from ours on, to the place above; at place `top` come those of all.
template <class Way, class Ranks>
void collect_blocks(Way& way, const Ranks& ranks, const Packed& packed, int32_t top) {
  const core::TreePlace tree = core::tree_place(ranks.place, ranks.size, top);
  const int32_t have = subtree(ranks, top);
  for (int32_t i = 0; i < tree.below; ++i) {
    const int32_t first = 1 << i;
    way.receive(packed.blocks(first, std::min(first, have - first)), after(ranks, first));
  }
  way.fence();
  if (tree.above >= 0) way.send(packed.blocks(0, have), ranks[tree.above]);
}

// The other way: from place `top` to the places that they belong to.
template <class Way, class Ranks>
void spread_blocks(Way& way, const Ranks& ranks, const Packed& packed, int32_t top) {
  const core::TreePlace tree = core::tree_place(ranks.place, ranks.size, top);
  const int32_t have = subtree(ranks, top);
  if (tree.above >= 0) {
    way.receive(packed.blocks(0, have), ranks[tree.above]);
    way.fence();
  }
  for (int32_t i = tree.below; i-- > 0;) {
    const int32_t first = 1 << i;
    way.send(packed.blocks(first, std::min(first, have - first)), after(ranks, first));
  }
}

// Dissemination: in round k, `mine` goes to the place 2^k after ours, and `theirs` comes from the place 2^k before;
// then take_in() combines them. After ceil(log2(size)) rounds a place has heard from all, from some of them twice.
template <class Way, class Ranks, class TakeIn>
void disseminate(Way& way, const Ranks& ranks, const Block& mine, const Block& theirs, TakeIn&& take_in) {
  for (int64_t distance = 1; distance < ranks.size; distance *= 2) {
    way.receive(theirs, after(ranks, ranks.size - distance));
    way.send(mine, after(ranks, distance));
    way.fence();
    take_in();
  }
}

// Bruck's algorithm on packed data: the parts of places place, place + 1, ... gather one behind the other, twice as
// many in each of the log2(size) steps. part(first, n) is the block for n parts, the first-th after ours being the
// first of them.
template <class Way, class Ranks, class Part>
void bruck(Way& way, const Ranks& ranks, Part&& part) {
  for (int32_t have = 1; have < ranks.size;) {
    const int32_t more = have <= ranks.size - have ? have : ranks.size - have;
    way.receive(part(have, more), after(ranks, have));
    way.send(part(0, more), after(ranks, ranks.size - have));
    way.fence();
    have += more;
  }
}

// Gathers a block of each place in `all`, which has ours at first, by bruck() through packed memory.
template <class Way, class Ranks>
void gather_packed(Way& way, const Ranks& ranks, const Packed& packed, const Blocks& all) {
  way.copy(all[ranks.place], packed.blocks(0, 1));
  bruck(way, ranks, [&](int32_t first, int32_t n) { return packed.blocks(first, n); });
  for (int32_t i = 1; i < ranks.size; ++i) way.copy(packed.blocks(i, 1), all[(ranks.place + i) % ranks.size]);
}

}  // namespace weft::coll::plan
