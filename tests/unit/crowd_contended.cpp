// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "weft/crowd_copies.hpp"

namespace weft::tool {
namespace {

Summary of(double seconds, double cpu_seconds, Pressure pressure = {}) {
  Summary sum;
  sum.mean = seconds;
  sum.cpu_seconds = cpu_seconds;
  sum.pressure = pressure;
  return sum;
}

std::string first(const std::vector<std::string>& lines) {
  return lines.empty() ? "" : lines[0].substr(0, lines[0].find(':'));
}

TEST(Contended, CopiesThatFitSideBySideFightForNothing) {
  EXPECT_TRUE(contended(of(1, 1), of(1.02, 1.02), 2, 2).empty());
}

TEST(Contended, MoreThanThereAreProcessors) {
  const auto lines = contended(of(1, 2), of(2, 2, {.processors = 0.9}), 2, 2);
  ASSERT_EQ(lines.size(), 1);
  EXPECT_EQ(lines[0],
            "processors: the copies keep 4.0 of them busy, and there are 2; some task waited for a processor 90 % of "
            "the time, alone 0 %. Remedy: fewer copies at once, or fewer ranks each");
}

TEST(Contended, EnoughProcessorsButAllOnTheSame) {
  EXPECT_EQ(first(contended(of(1, 2), of(2, 2, {.processors = 0.9}), 2, 8)), "the same processors");
}

TEST(Contended, TheSameWorkTakesMoreProcessorTime) {
  EXPECT_EQ(first(contended(of(1, 1), of(1.5, 1.5), 2, 8)), "caches and memory bandwidth");
}

TEST(Contended, TheStrongestComesFirst) {
  const auto lines = contended(of(1, 0.1), of(3, 0.11, {.disk = 0.8}), 2, 8);
  ASSERT_EQ(lines.size(), 2);
  EXPECT_EQ(first(lines), "the disk");
}

TEST(Contended, MemoryThatIsReadBack) {
  Summary crowd = of(2, 1, {.memory = 0.4});
  crowd.major_faults = 5000;
  EXPECT_EQ(first(contended(of(1, 1), crowd, 2, 8)), "memory");
}

TEST(Contended, WithoutFiguresOfTheKernel) {
  Summary alone = of(1, 2);
  Summary crowd = of(2, 2);
  alone.pressure.reset();
  crowd.pressure.reset();
  EXPECT_EQ(contended(alone, crowd, 2, 2),
            std::vector<std::string>{"processors: the copies keep 4.0 of them busy, and there are 2. Remedy: fewer "
                                     "copies at once, or fewer ranks each"});
}

TEST(SummaryOf, DeviationIsOfAllCopiesOfAllTurns) {
  const auto run = [](double seconds) { return CopyRun{.seconds = seconds, .cpu_seconds = 2 * seconds}; };
  const Summary sum = summary_of({{{run(1), run(3)}, Pressure{.disk = 0.5}}, {{run(3), run(1)}, Pressure{}}});
  EXPECT_DOUBLE_EQ(sum.mean, 2);
  EXPECT_DOUBLE_EQ(sum.deviation, 0.5);
  EXPECT_DOUBLE_EQ(sum.slowest, 3);
  EXPECT_DOUBLE_EQ(sum.cpu_seconds, 4);
  ASSERT_TRUE(sum.pressure);
  EXPECT_DOUBLE_EQ(sum.pressure->disk, 0.25);
}

TEST(RunCopies, EachCopyHasItsOwnEnd) {
  CrowdTurn turn;
  base::Problem problem;
  ASSERT_TRUE(run_copies({"sh", "-c", "echo some words; exit 3"}, 3, turn, problem));
  ASSERT_EQ(turn.copies.size(), 3);
  for (const CopyRun& copy : turn.copies) {
    EXPECT_EQ(copy.failure, "ended with status 3; the end of its output:\nsome words\n");
  }
  ASSERT_TRUE(run_copies({"sh", "-c", "kill -9 $$"}, 1, turn, problem));
  EXPECT_EQ(turn.copies[0].failure, "was killed by signal 9");
}

}  // namespace
}  // namespace weft::tool
