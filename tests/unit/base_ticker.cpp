// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/ticker.hpp"

namespace weft::base {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

struct Ticking {
  std::atomic<int> ticks = 0;
  std::atomic<bool> needed = false;
  Ticker ticker{milliseconds(1), 3, [this] {
                  ++ticks;
                  return needed.load();
                }};

  // Whether so many more ticks come.
  bool ticks_on(int more) {
    const int upto = ticks + more;
    const auto until = Clock::now() + std::chrono::seconds(10);
    while (ticks < upto && Clock::now() < until) std::this_thread::sleep_for(milliseconds(1));
    return ticks >= upto;
  }
  // It has stopped ticking.
  bool sleeps() {
    const auto until = Clock::now() + std::chrono::seconds(10);
    for (int before = -1; before != ticks && Clock::now() < until;) {
      before = ticks;
      std::this_thread::sleep_for(milliseconds(50));
    }
    return Clock::now() < until;
  }
};

TEST(Ticker, TicksAsLongAsThereIsNeed) {
  Ticking one;
  ASSERT_TRUE(one.ticker.start());
  ASSERT_TRUE(one.ticker.start()) << "again is no harm";
  EXPECT_TRUE(one.sleeps());
  for (int round = 0; round < 3; ++round) {
    one.needed = true;
    one.ticker.need();
    EXPECT_TRUE(one.ticks_on(20));
    one.needed = false;
    EXPECT_TRUE(one.sleeps());
  }
}

// Whenever the need arises, also at the moment when it goes to sleep.
TEST(Ticker, MissesNoNeed) {
  Ticking one;
  ASSERT_TRUE(one.ticker.start());
  for (int round = 0; round < 300; ++round) {
    one.needed = true;
    one.ticker.need();
    ASSERT_TRUE(one.ticks_on(1)) << "round " << round;
    one.needed = false;
    std::this_thread::sleep_for(std::chrono::microseconds(round * 37 % 6000));
  }
}

TEST(Ticker, EndsAtOnceWhetherItSleepsOrNot) {
  const auto before = Clock::now();
  {
    Ticker slow(std::chrono::hours(1), 3, [] { return true; });
    ASSERT_TRUE(slow.start());
    Ticker never(milliseconds(1), 3, [] { return true; });
    Ticking asleep;
    ASSERT_TRUE(asleep.ticker.start());
    EXPECT_TRUE(asleep.sleeps());
  }
  EXPECT_LT(Clock::now() - before, std::chrono::seconds(20));
}

}  // namespace
}  // namespace weft::base
