// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Scratch memory in the pool: reused, never by two at once, and bounded.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "coll/plan/scratch_pool.hpp"

namespace weft::coll {
namespace {

constexpr int64_t kib = 1024;

TEST(CollScratchPool, LaterOperationGetsThePagesOfAnEarlierOne) {
  for (const int64_t bytes : {17 * kib, 32 * kib, 100 * kib, 2048 * kib}) {
    void* first = take_memory(bytes);
    ASSERT_NE(first, nullptr);
    give_memory(first, bytes);
    void* second = take_memory(bytes - 1);  // of the same power of two
    EXPECT_EQ(first, second) << bytes;
    give_memory(second, bytes - 1);
  }
}

TEST(CollScratchPool, PieceHasRoomForAllSizesThatItServes) {
  give_memory(take_memory(33 * kib), 33 * kib);
  void* memory = take_memory(64 * kib);
  std::memset(memory, 1, 64 * kib);  // the address sanitizer sees what is too much
  give_memory(memory, 64 * kib);
}

TEST(CollScratchPool, PooledMemoryIsBounded) {
  std::vector<std::pair<void*, int64_t>> taken;
  for (int64_t bytes = 16; bytes <= 8192 * kib; bytes *= 2) {
    for (int i = 0; i < 5; ++i) taken.emplace_back(take_memory(bytes), bytes);
  }
  for (const auto& [memory, bytes] : taken) {
    ASSERT_NE(memory, nullptr);
    give_memory(memory, bytes);
  }
  EXPECT_GT(pooled_bytes(), 0);
  EXPECT_LE(pooled_bytes(), 8192 * kib);
}

TEST(CollScratchPool, NoTwoThreadsHaveOnePiece) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      constexpr int64_t bytes = 20 * kib;
      for (int i = 0; i < 2000; ++i) {
        auto* memory = static_cast<unsigned char*>(take_memory(bytes));
        std::memset(memory, static_cast<int>(t), bytes);
        for (int64_t at = 0; at < bytes; at += 512) wrong[t] += memory[at] != t;
        give_memory(memory, bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int one : wrong) EXPECT_EQ(one, 0);
}

}  // namespace
}  // namespace weft::coll
