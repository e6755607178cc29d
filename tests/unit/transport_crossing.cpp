// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Copies to another processor: every byte and no other, near and far; how many timed copies decide which it is.
#include <gtest/gtest.h>

#include <vector>

#include "base/copy.hpp"
#include "transport/shm/crossing.hpp"

namespace {

using namespace weft;
using transport::shm::Crossing;

constexpr size_t guard = 64;

// Copies `bytes` from and to places of these alignments, and looks at all bytes around.
template <class Copy>
void expect_copied(size_t from_at, size_t to_at, size_t bytes, Copy&& copy) {
  std::vector<unsigned char> from(bytes + 2 * guard), to(bytes + 2 * guard + 64, 0xee);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i * 31 + i / 251);
  const size_t base = (64 - reinterpret_cast<uintptr_t>(to.data()) % 64) % 64;
  unsigned char* place = to.data() + base + to_at;
  copy(place, from.data() + from_at, bytes);
  for (size_t i = 0; i < to.size(); ++i) {
    const size_t at = i - base - to_at;
    const bool inside = i >= base + to_at && at < bytes;
    ASSERT_EQ(to[i], inside ? from[from_at + at] : 0xee) << bytes << " bytes to " << to_at << ", byte " << i;
  }
}

TEST(Copy, PastTheCachesMovesEveryByteAndNoOther) {
  for (size_t to_at : {0, 1, 8, 15, 24, 63}) {
    for (size_t from_at : {0, 1, 7, 33}) {
      for (size_t bytes = 0; bytes <= 300; ++bytes) expect_copied(from_at, to_at, bytes, base::copy_past_caches);
      expect_copied(from_at, to_at, 8192, base::copy_past_caches);
      expect_copied(from_at, to_at, 100001, base::copy_past_caches);
    }
  }
}

TEST(Crossing, CopiesNearAndFar) {
  for (double ns_of_kib : {10.0, 1000.0}) {
    Crossing crossing;
    for (int i = 0; i < 3; ++i) crossing.note(ns_of_kib, 8192);
    for (size_t bytes : {0, 100, 2047, 2048, 5000, 32768}) {
      for (int i = 0; i < 100; ++i) {
        expect_copied(3, 24, bytes, [&](void* to, const void* from, size_t n) { crossing.copy(to, from, n); });
      }
    }
  }
}

TEST(Crossing, SeveralTimedCopiesInARowDecide) {
  Crossing crossing;
  EXPECT_TRUE(crossing.near());
  for (int turn = 0; turn < 10; ++turn) {
    crossing.note(400, 8192);
    crossing.note(400, 8192);
    crossing.note(60, 8192);  // one that was interrupted says nothing
  }
  EXPECT_TRUE(crossing.near());
  for (int i = 0; i < 3; ++i) crossing.note(400, 8192);
  EXPECT_FALSE(crossing.near());
  for (int i = 0; i < 2; ++i) crossing.note(60, 8192);
  EXPECT_FALSE(crossing.near());
  crossing.note(60, 8192);
  EXPECT_TRUE(crossing.near());
}

TEST(Crossing, OfFewBytesLessTimeIsFar) {
  Crossing crossing;
  for (int i = 0; i < 3; ++i) crossing.note(140, 8192);
  EXPECT_TRUE(crossing.near());
  for (int i = 0; i < 3; ++i) crossing.note(140, 2048);
  EXPECT_FALSE(crossing.near());
}

}  // namespace
