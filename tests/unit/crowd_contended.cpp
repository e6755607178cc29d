// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>

#include "weft/crowd_copies.hpp"

namespace weft::tool {
namespace {

constexpr double quiet = 0.01;  // error of a mean, as a part of it

Summary of(double seconds, double cpu_seconds, Pressure pressure = {}, double error = quiet) {
  Summary sum;
  sum.turns = 3;
  sum.seconds = {.mean = seconds, .error = error * seconds};
  sum.cpu_seconds = {.mean = cpu_seconds, .error = error * cpu_seconds};
  sum.waiting = {{pressure.processors, error}, {pressure.disk, error}, {pressure.memory, error}};
  return sum;
}

std::string first(const Verdict& verdict) {
  return verdict.causes.empty() ? "" : verdict.causes[0].substr(0, verdict.causes[0].find(':'));
}

TEST(Contended, CopiesThatFitSideBySideFightForNothing) {
  const Verdict verdict = contended(of(1, 1), of(1.02, 1.02), 2, 2);
  EXPECT_TRUE(verdict.causes.empty());
  EXPECT_FALSE(verdict.noisy);
  EXPECT_FALSE(verdict.slower);
}

TEST(Contended, MoreThanThereAreProcessors) {
  const Verdict verdict = contended(of(1, 2), of(2, 2, {.processors = 0.9}), 2, 2);
  ASSERT_EQ(verdict.causes.size(), 1);
  EXPECT_EQ(verdict.causes[0],
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
  const Verdict verdict = contended(of(1, 0.1), of(3, 0.11, {.disk = 0.8}), 2, 8);
  ASSERT_EQ(verdict.causes.size(), 2);
  EXPECT_EQ(first(verdict), "the disk");
}

TEST(Contended, MemoryThatIsReadBack) {
  Summary crowd = of(2, 1, {.memory = 0.4});
  crowd.major_faults = 5000;
  EXPECT_EQ(first(contended(of(1, 1), crowd, 2, 8)), "memory");
}

TEST(Contended, WithoutFiguresOfTheKernel) {
  Summary alone = of(1, 2);
  Summary crowd = of(2, 2);
  alone.waiting.reset();
  crowd.waiting.reset();
  EXPECT_EQ(contended(alone, crowd, 2, 2).causes,
            std::vector<std::string>{"processors: the copies keep 4.0 of them busy, and there are 2. Remedy: fewer "
                                     "copies at once, or fewer ranks each"});
}

TEST(Contended, MillisecondsOfProcessorTimeAreNoCause) {
  // A sleep of a second: its start takes a third longer, and nothing is slower.
  const Verdict sleeps = contended(of(1.002, 0.0015), of(1.003, 0.002, {.processors = 0.3}), 2, 2);
  EXPECT_TRUE(sleeps.causes.empty());
  EXPECT_FALSE(sleeps.noisy);
  // A program of milliseconds that is slower.
  const Verdict starts = contended(of(0.002, 0.002), of(0.004, 0.004, {.processors = 0.9, .disk = 0.9}), 2, 2);
  EXPECT_TRUE(starts.slower);
  EXPECT_TRUE(starts.causes.empty());
}

TEST(Contended, AnEffectWithinTheNoiseIsNoCause) {
  const Verdict verdict = contended(of(1, 1, {}, 0.2), of(1.4, 1.4, {.disk = 0.3}, 0.2), 2, 8);
  EXPECT_TRUE(verdict.causes.empty());
  EXPECT_TRUE(verdict.noisy);
  EXPECT_NEAR(verdict.noise, 2 * std::hypot(0.2, 0.28), 1e-9);
  EXPECT_FALSE(contended(of(1, 1, {}, 0.2), of(3, 3, {}, 0.2), 2, 8).noisy) << "an effect above the noise";
  EXPECT_TRUE(contended(of(1, 1, {}, 0.2), of(1, 1, {}, 0.2), 2, 8).noisy) << "an effect could not be seen";
}

TEST(Contended, EachEffectHasItsOwnNoise) {
  Summary crowd = of(2, 1.3, {.disk = 0.5});
  crowd.cpu_seconds.error = 0.2;
  crowd.waiting->disk.error = 0.3;
  const Verdict verdict = contended(of(1, 1), crowd, 2, 8);
  EXPECT_TRUE(verdict.slower);
  EXPECT_TRUE(verdict.causes.empty());
}

TEST(Contended, OneTurnTellsNothing) {
  Summary alone = of(1, 1, {}, 0);
  Summary crowd = of(2, 2, {}, 0);
  alone.turns = crowd.turns = 1;
  EXPECT_TRUE(contended(alone, crowd, 2, 8).noisy);
  EXPECT_TRUE(contended(alone, crowd, 2, 8).causes.empty());
}

TEST(SummaryOf, DeviationIsOfAllCopiesAndTheErrorOfTheTurns) {
  const auto run = [](double seconds) { return CopyRun{.seconds = seconds, .cpu_seconds = 2 * seconds}; };
  const Summary sum = summary_of({{{run(1), run(3)}, Pressure{.disk = 0.5}}, {{run(3), run(1)}, Pressure{}}});
  EXPECT_EQ(sum.turns, 2);
  EXPECT_DOUBLE_EQ(sum.seconds.mean, 2);
  EXPECT_DOUBLE_EQ(sum.seconds.error, 0);
  EXPECT_DOUBLE_EQ(sum.deviation, 0.5);
  EXPECT_DOUBLE_EQ(sum.slowest, 3);
  EXPECT_DOUBLE_EQ(sum.cpu_seconds.mean, 4);
  ASSERT_TRUE(sum.waiting);
  EXPECT_DOUBLE_EQ(sum.waiting->disk.mean, 0.25);
  EXPECT_DOUBLE_EQ(sum.waiting->disk.error, 0.25);
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
