// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Placing the ranks of a grid on domains, for machines this one is not.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "mpi/topo/grid_order.hpp"

namespace weft::mpi {
namespace {

using Ints = std::vector<int32_t>;

Grid grid_of(const std::vector<int>& dims, bool periodic = false) {
  return {dims, std::vector<int>(dims.size(), periodic ? 1 : 0)};
}

// Ranks in blocks of consecutive ones, or dealt out in turn.
Ints blocks(int ranks, int domains) {
  Ints out;
  for (int r = 0; r < ranks; ++r) out.push_back(r * domains / ranks);
  return out;
}
Ints in_turn(int ranks, int domains) {
  Ints out;
  for (int r = 0; r < ranks; ++r) out.push_back(r % domains);
  return out;
}

Ints placed(const Ints& domains, const Ints& members) {
  if (members.empty()) return domains;
  Ints out;
  for (int32_t r : members) out.push_back(domains[static_cast<size_t>(r)]);
  return out;
}

// Links between domains before and after.
std::pair<int64_t, int64_t> gain(const Grid& grid, const Ints& domains) {
  const Ints members = order_for_domains(grid, domains);
  if (!members.empty()) {
    Ints sorted = members;
    std::sort(sorted.begin(), sorted.end());
    Ints all(domains.size());
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(sorted, all) << "no permutation";
  }
  return {links_between_domains(grid, domains), links_between_domains(grid, placed(domains, members))};
}

using Pair = std::pair<int64_t, int64_t>;

TEST(GridOrder, SixtyFourRanksOnFourDomains) {
  EXPECT_EQ(gain(grid_of({8, 8}), blocks(64, 4)), Pair(24, 16));
  EXPECT_EQ(gain(grid_of({8, 8}), in_turn(64, 4)), Pair(56, 16));
  EXPECT_EQ(gain(grid_of({8, 8}, true), blocks(64, 4)), Pair(32, 32));
  EXPECT_EQ(gain(grid_of({8, 8}, true), in_turn(64, 4)), Pair(64, 32));
  EXPECT_EQ(gain(grid_of({4, 4, 4}), blocks(64, 4)), Pair(48, 32));
  EXPECT_EQ(gain(grid_of({4, 4, 4}), in_turn(64, 4)), Pair(48, 32));
  EXPECT_EQ(gain(grid_of({64}), in_turn(64, 4)), Pair(63, 3));
  EXPECT_EQ(gain(grid_of({2, 32}), blocks(64, 4)), Pair(34, 6));
  EXPECT_EQ(gain(grid_of({32, 2}), blocks(64, 4)), Pair(6, 6));
}

TEST(GridOrder, DomainsThatNoTileFitsAreCutInTurn) {
  // Three domains of 12 in a 6x6 grid: two rows, then two blocks of 4x3; slabs would cut 12 links.
  EXPECT_EQ(gain(grid_of({6, 6}), in_turn(36, 3)).second, 10);
  // 5, 6 and 5 of 16 ranks, in a 4x4 grid.
  Ints uneven(16);
  for (size_t r = 0; r < uneven.size(); ++r) uneven[r] = r % 3 == 0 ? 7 : static_cast<int32_t>(r % 3);
  const Pair got = gain(grid_of({4, 4}), uneven);
  EXPECT_LT(got.second, got.first);
  EXPECT_LE(got.second, 10);
}

TEST(GridOrder, WhatIsBestAlreadyStays) {
  EXPECT_TRUE(order_for_domains(grid_of({64}), blocks(64, 4)).empty());
  EXPECT_TRUE(order_for_domains(grid_of({8, 8}), Ints(64, 3)).empty());
  EXPECT_TRUE(order_for_domains(grid_of({1}), {0}).empty());
  EXPECT_TRUE(order_for_domains(grid_of({}), {0}).empty());
  EXPECT_TRUE(order_for_domains(grid_of({2, 2}), {0, 1, 2, 3}).empty());
}

TEST(GridOrder, ProcessesKeepTheirOrderInsideADomain) {
  const Ints domains = in_turn(64, 4);
  const Ints members = order_for_domains(grid_of({8, 8}), domains);
  Ints last(4, -1);
  for (int32_t r : members) {
    int32_t& before = last[static_cast<size_t>(domains[static_cast<size_t>(r)])];
    EXPECT_LT(before, r);
    before = r;
  }
}

TEST(GridOrder, NeverMakesAnythingWorse) {
  const unsigned seed = 20260704;
  std::mt19937 random(seed);
  auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 300; ++round) {
    Grid grid;
    for (int d = below(4); d >= 0; --d) {
      grid.dims.push_back(1 + below(6));
      grid.periods.push_back(below(2));
    }
    Ints domains(static_cast<size_t>(grid.size()));
    const int many = 1 + below(7);
    for (int32_t& domain : domains) domain = 10 * below(many);
    const Pair got = gain(grid, domains);
    EXPECT_LE(got.second, got.first) << "round " << round << " of seed " << seed;
    EXPECT_EQ(order_for_domains(grid, domains).empty(), got.first == got.second);
  }
}

TEST(GridOrder, EveryBoxThatTilesTheGridIsVisitedOnce) {
  std::vector<Ints> seen;
  each_tile(grid_of({4, 6}), 4, [&](const Ints& sides) { seen.push_back(sides); });
  EXPECT_EQ(seen, (std::vector<Ints>{{2, 2}, {4, 1}}));
  each_tile(grid_of({4, 6}), 5, [&](const Ints&) { ADD_FAILURE() << "5 ranks tile nothing here"; });
}

TEST(GridOrder, TheNeighboursOfACellArePairedOnce) {
  EXPECT_EQ(links_between_domains(grid_of({2, 2}), {0, 1, 2, 3}), 4);
  EXPECT_EQ(links_between_domains(grid_of({3}, true), {0, 1, 2}), 3);
  EXPECT_EQ(links_between_domains(grid_of({2}, true), {0, 1}), 2);  // two blocks go each way
  EXPECT_EQ(links_between_domains(grid_of({1}, true), {0}), 0);
}

}  // namespace
}  // namespace weft::mpi
