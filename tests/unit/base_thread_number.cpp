// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "base/thread_number.hpp"

namespace weft::base {
namespace {

uint32_t number_of_another() {
  uint32_t number = 0;
  std::thread([&] { number = thread_number(); }).join();
  return number;
}

TEST(ThreadNumber, OfAThreadThatHasEndedIsGivenAgain) {
  const uint32_t mine = thread_number();
  const uint32_t theirs = number_of_another();
  EXPECT_NE(theirs, mine);
  EXPECT_EQ(number_of_another(), theirs);
  EXPECT_EQ(thread_number(), mine);
}

TEST(ThreadNumber, IsNeverThatOfTwoThreads) {
  constexpr size_t threads = 100;
  std::vector<uint32_t> numbers(threads);
  std::atomic<size_t> have = 0;
  std::vector<std::thread> running;
  for (uint32_t& number : numbers) {
    running.emplace_back([&] {
      number = thread_number();
      ++have;
      while (have < threads) std::this_thread::yield();
    });
  }
  for (std::thread& one : running) one.join();
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ(std::adjacent_find(numbers.begin(), numbers.end()), numbers.end());
  EXPECT_EQ(numbers[62], 63U) << "the first 64 are the smallest";
}

}  // namespace
}  // namespace weft::base
