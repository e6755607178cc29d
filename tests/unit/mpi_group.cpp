// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Groups of more ranks than any job here has: their members, and that no operation looks at every pair of ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "mpi/comm/group.hpp"
#include "schedule.hpp"

namespace weft::mpi {
namespace {

constexpr int32_t many = 100000;

// Ends with the test.
class GroupOf {
 public:
  explicit GroupOf(std::vector<int32_t> ranks) : group_(make_group(std::move(ranks))) {}
  ~GroupOf() { drop(group_); }
  GroupOf(const GroupOf&) = delete;
  GroupOf& operator=(const GroupOf&) = delete;
  const core::Group& operator*() const { return *group_; }
  const core::Group* operator->() const { return group_; }

 private:
  core::Group* group_;
};

std::vector<int32_t> line(int32_t first, int32_t stride, int32_t size) {
  std::vector<int32_t> ranks(static_cast<size_t>(size));
  for (int32_t r = 0; r < size; ++r) ranks[static_cast<size_t>(r)] = first + r * stride;
  return ranks;
}

std::vector<int32_t> shuffled(uint64_t seed) {
  test::Random random(seed);
  std::vector<int32_t> ranks = line(0, 1, many);
  for (size_t i = ranks.size(); i > 1; --i) std::swap(ranks[i - 1], ranks[random.below(i)]);
  return ranks;
}

TEST(Group, AFormulaTakesNoTable) {
  for (const auto& [first, stride] : {std::pair{0, 1}, {7, 1}, {3, 4}, {many * 3, -3}}) {
    const GroupOf group(line(first, stride, many));
    EXPECT_TRUE(group->table.empty()) << first << " + r * " << stride;
    const RankFinder finder(*group);
    for (int32_t r : {0, 1, many / 2, many - 1}) {
      EXPECT_EQ(group->job_rank(r), first + r * stride);
      EXPECT_EQ(finder.rank_of(first + r * stride), r);
    }
    EXPECT_EQ(finder.rank_of(first - stride), -1);
    EXPECT_EQ(finder.rank_of(first + many * stride), -1);
    EXPECT_EQ(finder.rank_of(first + 1), stride == 1 ? 1 : -1);
  }
}

TEST(Group, ATableIsSearched) {
  const std::vector<int32_t> ranks = shuffled(1);
  const GroupOf group(ranks);
  EXPECT_FALSE(group->table.empty());
  const RankFinder finder(*group);
  for (int32_t r = 0; r < many; ++r) ASSERT_EQ(finder.rank_of(ranks[static_cast<size_t>(r)]), r);
  EXPECT_EQ(finder.rank_of(many), -1);
  EXPECT_EQ(finder.rank_of(-1), -1);
}

// Looking at every pair would take minutes: the time limit of the test is the assertion.
TEST(Group, OperationsOnManyRanks) {
  const GroupOf a(shuffled(2)), b(shuffled(3)), even(line(0, 2, many)), all(line(0, 1, 2 * many));
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(compare_groups(*a, *b), MPI_SIMILAR);
    EXPECT_EQ(compare_groups(*a, *even), MPI_UNEQUAL);
    EXPECT_EQ(union_of(*a, *b), a->table);
    EXPECT_EQ(intersection_of(*a, *b), a->table);
    EXPECT_TRUE(difference_of(*a, *b).empty());
    EXPECT_EQ(union_of(*a, *even).size(), size_t{many} + many / 2);
    EXPECT_EQ(intersection_of(*even, *a), line(0, 2, many / 2));
    EXPECT_EQ(difference_of(*even, *a), line(many, 2, many / 2));
    EXPECT_EQ(difference_of(*all, *even), line(1, 2, many));
  }
}

TEST(Group, SetOperationsKeepTheOrderOfTheFirst) {
  const GroupOf a({5, 1, 9, 3}), b({3, 2, 5, 8});
  EXPECT_EQ(union_of(*a, *b), (std::vector<int32_t>{5, 1, 9, 3, 2, 8}));
  EXPECT_EQ(intersection_of(*a, *b), (std::vector<int32_t>{5, 3}));
  EXPECT_EQ(difference_of(*a, *b), (std::vector<int32_t>{1, 9}));
}

}  // namespace
}  // namespace weft::mpi
