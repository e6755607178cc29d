// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

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

int service_threads() {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    count += name == "weft-service" ? 1 : 0;
  }
  return count;
}

TEST(Ticker, SharesOneThreadWithAllOthers) {
  EXPECT_EQ(service_threads(), 0);
  {
    Ticking one;
    Ticker often(std::chrono::microseconds(100), 3, [] { return true; });
    Ticking other;
    EXPECT_EQ(service_threads(), 0) << "nobody has asked for it";
    one.needed = other.needed = true;
    ASSERT_TRUE(one.ticker.start());
    ASSERT_TRUE(often.start());
    ASSERT_TRUE(other.ticker.start());
    EXPECT_EQ(service_threads(), 1);
    EXPECT_TRUE(one.ticks_on(20));
    EXPECT_TRUE(other.ticks_on(20));
    other.needed = false;
    EXPECT_TRUE(other.sleeps());
    EXPECT_TRUE(one.ticks_on(20)) << "one that sleeps holds no other up";
  }
  EXPECT_EQ(service_threads(), 0);
}

// Tickers come and go while others tick: the thread ends with the last and is made anew.
TEST(Ticker, MayComeAndGoInSeveralThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int round = 0; round < 200; ++round) {
        Ticking one;
        one.needed = true;
        ASSERT_TRUE(one.ticker.start());
        ASSERT_TRUE(one.ticks_on(1));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(service_threads(), 0);
}

}  // namespace
}  // namespace weft::base
