// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "boot/pmi/process_mapping.hpp"

namespace weft::boot {
namespace {

using Ranks = std::vector<int>;

Ranks mapped(int rank, int size, const char* text) {
  ProcessMapping mapping;
  return mapping.parse(text, size) ? mapping.ranks_on(mapping.node_of(rank)) : Ranks{};
}

Ranks listed(int rank, int size, const char* text) {
  Ranks ranks;
  return ranks_of_list(rank, size, text, ranks) ? ranks : Ranks{};
}

TEST(ProcessMapping, RanksOfANode) {
  EXPECT_EQ(mapped(1, 4, "(vector,(0,2,2))"), (Ranks{0, 1}));
  EXPECT_EQ(mapped(2, 4, "(vector,(0,2,1))"), (Ranks{0, 2})) << "around again";
  EXPECT_EQ(mapped(4, 5, "(vector,(0,1,3),(1,1,2))"), (Ranks{3, 4}));
  EXPECT_EQ(mapped(0, 3, "(vector,(0,1,8))"), (Ranks{0, 1, 2})) << "more places than ranks";
  EXPECT_EQ(mapped(0, 3, "(vector,(7,1,1),(9,1,1))"), (Ranks{0, 2}));
}

TEST(ProcessMapping, OfAJobOfAnySize) {
  ProcessMapping mapping;
  ASSERT_TRUE(mapping.parse("(vector,(0,1,1),(1,21874,32),(21875,1,30),(21876,1,1))", 700000));
  EXPECT_EQ(mapping.node_of(0), 0);
  EXPECT_EQ(mapping.node_of(1), 1);
  EXPECT_EQ(mapping.node_of(32), 1);
  EXPECT_EQ(mapping.node_of(33), 2);
  EXPECT_EQ(mapping.node_of(699998), 21875);
  EXPECT_EQ(mapping.node_of(699999), 21876);
  EXPECT_EQ(mapping.ranks_on(21876), Ranks{699999});
  EXPECT_EQ(mapping.ranks_on(2).front(), 33);
  EXPECT_EQ(mapping.ranks_on(2).size(), 32U);
  EXPECT_EQ(mapping.ranks_on(21877), Ranks{});
  ASSERT_TRUE(mapping.parse("(vector,(5,2147483647,2147483647),(0,1,1))", 700000)) << "more places than any job needs";
  EXPECT_EQ(mapping.node_of(699999), 5);
}

TEST(ProcessMapping, ARankIsOnItsNode) {
  for (const char* text : {"(vector,(0,2,2))", "(vector,(0,3,1),(1,1,4))", "(vector,(3,2,2),(0,5,1),(3,1,1))"}) {
    constexpr int size = 23;
    ProcessMapping mapping;
    ASSERT_TRUE(mapping.parse(text, size));
    int found = 0;
    for (int64_t node = 0; node < 8; ++node) {
      for (const int rank : mapping.ranks_on(node)) {
        EXPECT_EQ(mapping.node_of(rank), node) << text << " rank " << rank;
        ++found;
      }
    }
    EXPECT_EQ(found, size) << text;
  }
}

TEST(ProcessMapping, RefusesWhatIsNone) {
  for (const char* text :
       {"", "(vector)", "(vector,(0,1,1)", "(vector,(0,0,1))", "(vector,(0,1,0))", "(vector,(-1,1,1))",
        "(vector,(0,1,1)) ", "(list,(0,1,1))", "(vector,(0,99999999999,1))", "(vector,(0,1))"}) {
    EXPECT_EQ(mapped(0, 2, text), Ranks{}) << text;
  }
}

TEST(RankList, RanksOfANode) {
  EXPECT_EQ(listed(0, 1, "0"), Ranks{0});
  EXPECT_EQ(listed(1, 8, "0,1,5-7"), (Ranks{0, 1, 5, 6, 7}));
  EXPECT_EQ(listed(3, 4, "1,3"), (Ranks{1, 3}));
  EXPECT_EQ(listed(0, 5, "4,0,2"), (Ranks{0, 2, 4})) << "as prterun tells them";
}

TEST(RankList, RefusesWhatIsNone) {
  for (const char* text :
       {"", ",", "0,", "1", "0,0", "0,1,0", "0-2,1", "0-4", "0-", "-1", "0,2-1", "0 1", "0,99999999999", "a"}) {
    EXPECT_EQ(listed(0, 4, text), Ranks{}) << text;
  }
}

}  // namespace
}  // namespace weft::boot
