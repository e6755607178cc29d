// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The owner's view of its staging buffers.
#include <gtest/gtest.h>

#include <array>

#include "transport/shm/staging.hpp"

namespace {

using weft::transport::shm::StagingPool;

struct Buffers {
  explicit Buffers(int count) {
    pool.open(words.data(), count);
    pool.set_ready(count);
  }
  void release(int first, int count = 1) {
    for (int i = first; i < first + count; ++i) StagingPool::release(words[static_cast<size_t>(i)]);
  }
  alignas(64) std::array<std::atomic<uint32_t>, 64> words{};
  StagingPool pool;
};

TEST(Staging, LendsEachBufferOnceUntilItIsReleased) {
  Buffers buffers(4);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(buffers.pool.lend(1), i);
  EXPECT_EQ(buffers.pool.lend(1), -1);
  buffers.release(2);
  EXPECT_EQ(buffers.pool.lend(1), 2);
  EXPECT_EQ(buffers.pool.lend(1), -1);
}

TEST(Staging, LendsOnlyBuffersThatAreReady) {
  Buffers buffers(6);
  buffers.pool.set_ready(2);
  EXPECT_EQ(buffers.pool.lend(3), -1);
  EXPECT_EQ(buffers.pool.lend(1), 0);
  EXPECT_EQ(buffers.pool.lend(2), -1);
  buffers.pool.set_ready(4);
  EXPECT_EQ(buffers.pool.lend(3), 1);
  EXPECT_EQ(buffers.pool.lend(1), -1);
}

TEST(Staging, LendsBuffersInARowThatDoNotWrap) {
  Buffers buffers(5);
  EXPECT_EQ(buffers.pool.lend(3), 0);
  EXPECT_EQ(buffers.pool.lend(3), -1);
  EXPECT_EQ(buffers.pool.lend(2), 3);
  buffers.release(1, 3);
  EXPECT_EQ(buffers.pool.lend(3), 1);
  EXPECT_EQ(buffers.pool.lend(6), -1);
}

TEST(Staging, TakesBackWithoutARelease) {
  Buffers buffers(2);
  EXPECT_EQ(buffers.pool.lend(2), 0);
  buffers.pool.take_back(0, 2);
  EXPECT_EQ(buffers.pool.lend(2), 0);
  EXPECT_EQ(buffers.pool.lend(1), -1);
}

TEST(Staging, OneLookFindsAllReleasesOfALine) {
  Buffers buffers(16);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(buffers.pool.lend(1), i);
  buffers.release(0, 16);
  EXPECT_EQ(buffers.pool.lend(1), 0);  // looks at the words of 0 to 15
  // The owner has no reason to look again: that these words go back to their state of before is not seen.
  for (auto& word : buffers.words) word.store(0);
  for (int i = 1; i < 16; ++i) EXPECT_EQ(buffers.pool.lend(1), i);
}

TEST(Staging, CountsReleasesPastTheEndOfTheirWord) {
  Buffers buffers(1);
  buffers.words[0].store(UINT32_MAX);
  buffers.pool.open(buffers.words.data(), 1);
  EXPECT_EQ(buffers.pool.lend(1), 0);
  buffers.release(0);
  EXPECT_EQ(buffers.words[0].load(), 0u);
  EXPECT_EQ(buffers.pool.lend(1), 0);
}

}  // namespace
