// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The hosts as collective operations see them, and the number of messages between hosts.
#include "coll_simulation.hpp"

namespace {

using namespace weft;
using namespace weft::test;

// How often hosts are crossed by eight ranks on two of them: docs/design/collectives.md has these numbers.
class Crossings : public testing::Test {
 protected:
  struct Counts {
    int barrier, bcast, reduce, gather, scatter, allreduce, allgather, ring;
    bool operator==(const Counts&) const = default;
  };

  static Counts count(const std::vector<int32_t>& hosts, bool leaders, int root) {
    std::vector<Values> in(8, Values(8, 1)), out = in, large(8, Values(8 * 10000));
    auto a = [&](int r) { return in[static_cast<size_t>(r)].data(); };
    auto b = [&](int r) { return out[static_cast<size_t>(r)].data(); };
    auto of = [&](const std::function<void(Schedule&, int)>& plan) {
      Simulation simulation(hosts, adding, leaders);
      EXPECT_TRUE(simulation.run(Sends::complete_at_once, plan));
      return simulation.between_hosts();
    };
    using coll::plan::allgather;
    return {.barrier = of([](Schedule& s, int) { coll::plan::barrier(s); }),
            .bcast = of([&](Schedule& s, int r) {
              coll::plan::bcast(s, Block{a(r), 8, &word}, root);
            }),
            .reduce = of([&](Schedule& s, int r) { coll::plan::reduce(s, a(r), b(r), 8, adding, root); }),
            .gather = of([&](Schedule& s, int r) {
              coll::plan::gather(s, {a(r), 1, &word}, Blocks(b(r), 1, word), root);
            }),
            .scatter = of([&](Schedule& s, int r) {
              coll::plan::scatter(s, Blocks(a(r), 1, word), {b(r), 1, &word}, root);
            }),
            .allreduce = of([&](Schedule& s, int r) { coll::plan::allreduce(s, a(r), b(r), 8, adding); }),
            .allgather = of([&](Schedule& s, int r) {
              allgather(s, Block{a(r), 1, &word}, Blocks(b(r), 1, word));
            }),
            .ring = of([&](Schedule& s, int r) {
              allgather(s, Block(), Blocks(large[static_cast<size_t>(r)].data(), 10000, word));
            })};
  }

  const std::vector<int32_t> together_{0, 0, 0, 0, 1, 1, 1, 1};
  const std::vector<int32_t> dealt_{0, 1, 0, 1, 0, 1, 0, 1};
};

TEST_F(Crossings, ByLeadersAreAsFewAsCanBe) {
  const Counts few{
      .barrier = 2, .bcast = 1, .reduce = 1, .gather = 1, .scatter = 1, .allreduce = 2, .allgather = 2, .ring = 14};
  for (int root = 0; root < 8; ++root) {
    EXPECT_EQ(count(together_, true, root), few) << root;
    EXPECT_EQ(count(dealt_, true, root), few) << root;
    EXPECT_EQ(count({0, 1, 1, 0, 0, 1, 1, 0}, true, root), few) << root;
    EXPECT_EQ(count({1, 1, 1, 1, 1, 1, 1, 0}, true, root), few) << root;
  }
}

TEST_F(Crossings, WithoutLeaders) {
  EXPECT_EQ(count(together_, false, 0), (Counts{.barrier = 8,
                                                .bcast = 1,
                                                .reduce = 1,
                                                .gather = 4,
                                                .scatter = 4,
                                                .allreduce = 8,
                                                .allgather = 14,
                                                .ring = 14}));
  EXPECT_EQ(count(dealt_, false, 0), (Counts{.barrier = 8,
                                             .bcast = 4,
                                             .reduce = 4,
                                             .gather = 4,
                                             .scatter = 4,
                                             .allreduce = 8,
                                             .allgather = 8,
                                             .ring = 56}));
}

TEST(Hosts, SaysWhereRanksAre) {
  const std::vector<int32_t> hosts{7, 7, 3, 7, 3, 9};
  for (int32_t r = 0; r < 6; ++r) {
    const auto found = hosts_seen_by(r, hosts);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->count(), 3);
    EXPECT_FALSE(found->consecutive());
    EXPECT_EQ(found->order, (std::vector<int32_t>{0, 1, 3, 2, 4, 5}));
    EXPECT_EQ(std::vector<int32_t>(found->first_ranks(), found->first_ranks() + 3), (std::vector<int32_t>{0, 2, 5}));
    EXPECT_EQ(found->rank_at(found->start(found->host) + found->place), r);
    EXPECT_EQ(found->host_of(r), found->host);
  }
}

TEST(Hosts, TakesNoMemoryForEachRankWhereHostsFollowOneAnother) {
  const auto found = hosts_seen_by(4, std::vector<int32_t>{7, 7, 3, 3, 3, 9});
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(found->consecutive());
  EXPECT_TRUE(found->host_by_rank.empty());
  EXPECT_EQ(found->starts, (std::vector<int32_t>{0, 2, 5, 6}));
  EXPECT_EQ(found->host, 1);
  EXPECT_EQ(found->place, 2);
  EXPECT_EQ(found->place_of(1), 1);
  EXPECT_EQ(found->host_of(5), 2);
}

TEST(Hosts, AreNothingWhereTheyMakeNoDifference) {
  EXPECT_EQ(hosts_seen_by(0, std::vector<int32_t>{5, 5, 5}), nullptr);
  EXPECT_EQ(hosts_seen_by(0, std::vector<int32_t>{2, 1, 0}), nullptr);
  EXPECT_EQ(hosts_seen_by(0, std::vector<int32_t>{5}), nullptr);
}

}  // namespace
