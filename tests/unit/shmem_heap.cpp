// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The book of the symmetric heap, and sizes as users write them.
#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "shmem/environment.hpp"
#include "shmem/heap.hpp"

namespace weft::shmem {
namespace {

TEST(SymmetricHeap, TakesTheLowestPlaceAndUsesItAgain) {
  HeapPieces pieces(4096);
  EXPECT_EQ(pieces.take(100, 8), 0U);
  EXPECT_EQ(pieces.take(1, 8), 128U);
  EXPECT_EQ(pieces.take(64, 1024), 1024U);
  EXPECT_EQ(pieces.take(600, 8), 192U);
  EXPECT_TRUE(pieces.give_back(128));
  EXPECT_FALSE(pieces.give_back(128));
  EXPECT_EQ(pieces.take(65, 8), 832U);  // 64 bytes are free at 128
  EXPECT_EQ(pieces.take(64, 8), 128U);
  EXPECT_EQ(pieces.size_of(192), 600U);
  EXPECT_EQ(pieces.size_of(193), HeapPieces::none);
}

TEST(SymmetricHeap, HasNoRoomBeyondItsEnd) {
  HeapPieces pieces(4096);
  EXPECT_EQ(pieces.take(4097, 8), HeapPieces::none);
  EXPECT_EQ(pieces.take(SIZE_MAX, 8), HeapPieces::none);
  EXPECT_EQ(pieces.take(8, 8192), HeapPieces::none);
  EXPECT_EQ(pieces.take(4096, 8), 0U);
  EXPECT_EQ(pieces.take(1, 8), HeapPieces::none);
  EXPECT_TRUE(pieces.resize(0, 10));
  EXPECT_EQ(pieces.take(4032, 8), 64U);
  EXPECT_FALSE(pieces.resize(0, 65));
  EXPECT_TRUE(pieces.resize(0, 64));
}

TEST(SymmetricHeap, PiecesNeverOverlap) {
  constexpr size_t size = 1 << 16;
  std::mt19937 random(7);
  HeapPieces pieces(size);
  std::vector<int> owner(size, 0);
  std::vector<std::pair<size_t, size_t>> taken;
  for (int step = 1; step < 5000; ++step) {
    if (random() % 3 != 0) {
      const size_t bytes = 1 + random() % 3000;
      const size_t alignment = size_t{1} << (random() % 12);
      const size_t at = pieces.take(bytes, alignment);
      if (at == HeapPieces::none) continue;
      ASSERT_EQ(at % alignment, 0U);
      ASSERT_LE(at + bytes, size);
      for (size_t i = at; i < at + bytes; ++i) ASSERT_EQ(std::exchange(owner[i], step), 0);
      taken.emplace_back(at, bytes);
    } else if (!taken.empty()) {
      std::swap(taken[random() % taken.size()], taken.back());
      const auto [at, bytes] = taken.back();
      taken.pop_back();
      ASSERT_EQ(pieces.size_of(at), bytes);
      ASSERT_TRUE(pieces.give_back(at));
      for (size_t i = at; i < at + bytes; ++i) owner[i] = 0;
    }
  }
}

TEST(SymmetricSize, IsReadAsTheSpecificationSays) {
  uint64_t bytes = 0;
  const auto is = [&](const char* text) { return parse_size(text, bytes) ? bytes : UINT64_MAX; };
  EXPECT_EQ(is("20m"), 20971520U);
  EXPECT_EQ(is("3.1M"), 3250586U);
  EXPECT_EQ(is(".5m"), 524288U);
  EXPECT_EQ(is("0.5m"), 524288U);
  EXPECT_EQ(is("20kk"), 20480U);
  EXPECT_EQ(is("1g"), uint64_t{1} << 30);
  EXPECT_EQ(is("2T"), uint64_t{2} << 40);
  EXPECT_EQ(is("4096"), 4096U);
  EXPECT_EQ(is("0"), 0U);
  for (const char* wrong : {"", "many", "-1", "m", "1x", "1e30g", "nan", "inf"})
    EXPECT_EQ(is(wrong), UINT64_MAX) << wrong;
}

}  // namespace
}  // namespace weft::shmem
