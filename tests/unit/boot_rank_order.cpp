// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Orders of ranks on hosts, and the files that list them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>

#include "base/setting.hpp"
#include "boot/job/rank_order.hpp"

namespace weft::boot {
namespace {

using Ints = std::vector<int>;

Ints ordered(RankOrder method, const Ints& hosts) {
  Ints ranks;
  base::Problem problem;
  EXPECT_TRUE(reorder(method, hosts, ranks, problem)) << base::describe(problem);
  return ranks;
}

Ints parsed(const std::string& text, int size) {
  Ints ranks;
  base::Problem problem;
  EXPECT_TRUE(parse_rank_order(text, "order", size, ranks, problem)) << base::describe(problem);
  return ranks;
}

// The message about a text that is no order of so many ranks.
std::string refused(const std::string& text, int size) {
  Ints ranks{-7};
  base::Problem problem;
  EXPECT_FALSE(parse_rank_order(text, "order", size, ranks, problem)) << text;
  EXPECT_EQ(ranks, Ints{-7}) << "a refused file must change nothing";
  EXPECT_NE(problem.remedy, "");
  return problem.cause;
}

// A file with this text; gone at the end.
class File {
 public:
  explicit File(const std::string& text) {
    const int fd = mkstemp(path_.data());
    EXPECT_EQ(write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    close(fd);
  }
  ~File() { unlink(path_.c_str()); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = testing::TempDir() + "test-rank-order-XXXXXX";
};

const Ints two_hosts{0, 0, 0, 1, 1, 1};
const Ints uneven{5, 5, 5, 5, 9, 7, 7};  // hosts are any numbers

TEST(RankOrder, SmpIsAsTheLauncherPlacedThem) {
  EXPECT_EQ(ordered(RankOrder::smp, two_hosts), (Ints{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(ordered(RankOrder::smp, {0, 1, 0, 1}), (Ints{0, 1, 2, 3}));
}

TEST(RankOrder, RoundRobinDealsToHostsInTurn) {
  EXPECT_EQ(ordered(RankOrder::round_robin, two_hosts), (Ints{0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(ordered(RankOrder::round_robin, uneven), (Ints{0, 3, 5, 6, 1, 2, 4}));
  EXPECT_EQ(ordered(RankOrder::round_robin, {3, 3, 3}), (Ints{0, 1, 2}));
}

TEST(RankOrder, FoldedDealsBackAndForth) {
  EXPECT_EQ(ordered(RankOrder::folded, {0, 0, 1, 1, 2, 2, 3, 3}), (Ints{0, 7, 1, 6, 2, 5, 3, 4}));
  EXPECT_EQ(ordered(RankOrder::folded, two_hosts), (Ints{0, 3, 4, 1, 2, 5}));
  // Back: host 7, then 5, for 9 is full; then 5 alone.
  EXPECT_EQ(ordered(RankOrder::folded, uneven), (Ints{0, 4, 5, 6, 1, 2, 3}));
}

TEST(RankOrder, SlotsOfAHostNeedNotStandTogether) {
  EXPECT_EQ(ordered(RankOrder::round_robin, {0, 1, 0, 1}), (Ints{0, 1, 2, 3}));
  EXPECT_EQ(ordered(RankOrder::folded, {0, 1, 0, 1}), (Ints{0, 1, 3, 2}));
}

TEST(RankOrder, EveryMethodGivesEachRankOnce) {
  const unsigned seed = 20261122;
  std::mt19937 random(seed);
  for (int round = 0; round < 300; ++round) {
    Ints hosts(1 + random() % 40);
    for (int& host : hosts) host = static_cast<int>(random() % 7);
    for (const RankOrder method : {RankOrder::round_robin, RankOrder::smp, RankOrder::folded}) {
      Ints ranks = ordered(method, hosts);
      std::sort(ranks.begin(), ranks.end());
      Ints all(hosts.size());
      std::iota(all.begin(), all.end(), 0);
      EXPECT_EQ(ranks, all) << "round " << round << " of seed " << seed;
    }
  }
}

TEST(RankOrderFile, TakesRanksRangesAndComments) {
  EXPECT_EQ(parsed("0,1,2,3\n", 4), (Ints{0, 1, 2, 3}));
  EXPECT_EQ(parsed("# 5 ranks, 9 comments\n3-0 # 7\n\t4,", 5), (Ints{3, 2, 1, 0, 4}));
  EXPECT_EQ(parsed("2, 0-1\r\n3", 4), (Ints{2, 0, 1, 3}));
  EXPECT_EQ(parsed("1#0\n0", 2), (Ints{1, 0}));
  EXPECT_EQ(parsed("0-0", 1), (Ints{0}));
}

TEST(RankOrderFile, ErrorsNameFileLineAndWhatIsWrong) {
  EXPECT_EQ(refused("0,1\n2,1\n", 3),
            "the rank order file \"order\", line 2, cannot be used: rank 1 is listed twice, first in line 1");
  EXPECT_EQ(refused("3,\n# 1\n\n4-1", 5),
            "the rank order file \"order\", line 4, cannot be used: rank 3 is listed twice, first in line 1");
  EXPECT_EQ(refused("0 1 2 3", 3),
            "the rank order file \"order\", line 1, cannot be used: \"3\" is out of range: the job has ranks 0 to 2");
  EXPECT_NE(refused("\n0-99999999999999999999", 3).find("line 2, cannot be used: \"0-99999999999999999999\" is out of"),
            std::string::npos);
  EXPECT_EQ(refused("0,1,4-5,8", 20),
            "the rank order file \"order\" cannot be used: it lists 5 of the job's 20 ranks; missing: 2-3, 6-7, 9-19");
  EXPECT_NE(refused("0 2 4 6 8 10 12", 14).find("7 of the job's 14 ranks; missing: 1, 3, 5, 7, 9 and more"),
            std::string::npos);
  EXPECT_NE(refused("", 2).find("it lists 0 of the job's 2 ranks; missing: 0-1"), std::string::npos);
  for (const char* item : {"x", "-", "1-", "-1", "0-1-2", "+1", "0x1", "1.5", "1;2", "--", "0:1"}) {
    EXPECT_NE(refused(std::string("0,") + item, 3).find(std::string("line 1, cannot be used: \"") + item + "\" is no"),
              std::string::npos)
        << item;
  }
  EXPECT_NE(refused(std::string("0\0001", 3), 2).find("is no rank"), std::string::npos);
  EXPECT_LT(refused(std::string(1 << 20, '1'), 2).size(), 300u);
}

TEST(RankOrderFile, WhatCannotBeReadIsSaidWithErrno) {
  Ints ranks;
  base::Problem problem;
  EXPECT_FALSE(read_rank_order("/nowhere/MPICH_RANK_ORDER", 2, ranks, problem));
  EXPECT_EQ(problem.error, ENOENT);
  EXPECT_NE(problem.cause.find("/nowhere/MPICH_RANK_ORDER"), std::string::npos);
  EXPECT_NE(problem.remedy.find("WEFT_RANK_REORDER_FILE"), std::string::npos);
  EXPECT_FALSE(read_rank_order("/", 2, ranks, problem));
  EXPECT_EQ(problem.error, EISDIR);
  EXPECT_FALSE(read_rank_order("/dev/zero", 2, ranks, problem)) << "a file has an end";
  EXPECT_EQ(problem.error, EFBIG);
}

// In one of the ways a person may write it.
std::string written(const Ints& order, std::mt19937& random) {
  std::string text = "# random\n";
  for (size_t i = 0; i < order.size(); ++i) {
    size_t last = i;
    const int step = random() % 2 == 0 ? 1 : -1;
    while (last + 1 < order.size() && order[last + 1] == order[last] + step) ++last;
    text += std::to_string(order[i]);
    if (last > i) text += "-" + std::to_string(order[last]);
    i = last;
    const char* separators[] = {",", ", ", "\n", " ", ",\n", "\t", " # note 1,2\n"};
    text += separators[random() % 7];
  }
  return text;
}

TEST(RankOrderFile, RandomOrdersAreReadAsTheyWereWritten) {
  const unsigned seed = 20261122;
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    Ints order(1 + random() % 60);
    std::iota(order.begin(), order.end(), 0);
    // Few exchanges leave ranges.
    if (random() % 2 == 0) std::reverse(order.begin(), order.end());
    for (size_t n = random() % (2 * order.size()); n > 0; --n) {
      std::swap(order[random() % order.size()], order[random() % order.size()]);
    }
    const File file(written(order, random));
    Ints read;
    base::Problem problem;
    EXPECT_TRUE(read_rank_order(file.path(), static_cast<int>(order.size()), read, problem)) << base::describe(problem);
    EXPECT_EQ(read, order) << "round " << round << " of seed " << seed;
  }
}

// The settings are read once per process, so each case is a process of its own.
void order_by_settings(const Ints& hosts) {
  base::load_settings();
  Ints ranks;
  base::Problem problem;
  const bool done = reorder(wanted_rank_order(), hosts, ranks, problem);
  if (!done) fprintf(stderr, "%s", base::describe(problem).c_str());
  for (const int rank : ranks) fprintf(stderr, "%d ", rank);
  _exit(done ? 0 : 3);
}

TEST(RankOrderSettingsDeathTest, TheFileListsRanksHostByHost) {
  const File file("3,2\n1,0\n");
  setenv("WEFT_RANK_REORDER_METHOD", "3", 1);
  setenv("WEFT_RANK_REORDER_FILE", file.path().c_str(), 1);
  EXPECT_EXIT(order_by_settings({0, 0, 1, 1}), testing::ExitedWithCode(0), "^3 2 1 0 $");
  EXPECT_EXIT(order_by_settings({0, 1, 0, 1}), testing::ExitedWithCode(0), "^3 1 2 0 $");
  EXPECT_EXIT(order_by_settings({0, 1}), testing::ExitedWithCode(3), "line 1, cannot be used: \"3\" is out of range");
  unsetenv("WEFT_RANK_REORDER_FILE");
  setenv("MPICH_RANK_REORDER_FILE", file.path().c_str(), 1);
  EXPECT_EXIT(order_by_settings({0, 0, 1, 1}), testing::ExitedWithCode(0), "^3 2 1 0 $");
  unsetenv("MPICH_RANK_REORDER_FILE");
  ASSERT_EQ(chdir("/"), 0);
  EXPECT_EXIT(order_by_settings({0, 0, 1, 1}), testing::ExitedWithCode(3), "file \"MPICH_RANK_ORDER\" cannot be read");
  unsetenv("WEFT_RANK_REORDER_METHOD");
}

TEST(RankOrderSettingsDeathTest, TheNamesOfCrayMpichAreTaken) {
  EXPECT_EXIT(order_by_settings(two_hosts), testing::ExitedWithCode(0), "^0 1 2 3 4 5 $");
  setenv("MPICH_RANK_REORDER_METHOD", "0", 1);
  EXPECT_EXIT(order_by_settings(two_hosts), testing::ExitedWithCode(0), "^0 2 4 1 3 5 $");
  setenv("WEFT_RANK_REORDER_METHOD", "2", 1);
  EXPECT_EXIT(order_by_settings(two_hosts), testing::ExitedWithCode(0), "^0 3 4 1 2 5 $");
  setenv("WEFT_RANK_REORDER_METHOD", "4", 1);
  EXPECT_EXIT(order_by_settings(two_hosts), testing::ExitedWithCode(1),
              "WEFT_RANK_REORDER_METHOD cannot be used.*0 to 3");
  unsetenv("WEFT_RANK_REORDER_METHOD");
  unsetenv("MPICH_RANK_REORDER_METHOD");
}

}  // namespace
}  // namespace weft::boot
