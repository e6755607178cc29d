// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Large pieces of memory in slots of a sparse file.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <random>

#include "transport/shm/large.hpp"

using namespace weft::transport::shm;

namespace {

constexpr uint64_t gib = uint64_t{1} << 30;

TEST(Slots, FollowEachOtherWithoutGapOrOverlap) {
  const Slots slots;
  uint64_t at = 0;
  for (uint32_t log2 = slots.least_log2; log2 <= Slots::most_log2; ++log2) {
    for (uint32_t i = 0; i < Slots::of_each_size; ++i) {
      const MemorySlot slot = slots.slot(log2, i);
      ASSERT_EQ(slot.begin, at);
      ASSERT_EQ(slot.bytes, uint64_t{1} << log2);
      at += slot.bytes;
    }
  }
  EXPECT_EQ(at, slots.total());
}

TEST(Slots, EachByteTellsItsSlot) {
  std::mt19937_64 random(1);
  for (const uint32_t least : {21U, 30U}) {
    const Slots slots{least};
    for (int i = 0; i < 100000; ++i) {
      const auto log2 = static_cast<uint32_t>(least + random() % (Slots::most_log2 - least + 1));
      const MemorySlot slot = slots.slot(log2, static_cast<uint32_t>(random() % Slots::of_each_size));
      for (const uint64_t inside : {uint64_t{0}, slot.bytes - 1, random() % slot.bytes}) {
        const MemorySlot found = slots.slot_of(slot.begin + inside);
        ASSERT_EQ(found.begin, slot.begin);
        ASSERT_EQ(found.bytes, slot.bytes);
      }
    }
  }
}

TEST(Slots, TheSizeHoldsWhatIsAsked) {
  const Slots slots;
  EXPECT_EQ(slots.size_for(0), 30u);
  EXPECT_EQ(slots.size_for(gib), 30u);
  EXPECT_EQ(slots.size_for(gib + 1), 31u);
  EXPECT_EQ(slots.size_for(uint64_t{1} << 44), 44u);
  EXPECT_GT(slots.size_for((uint64_t{1} << 44) + 1), Slots::most_log2);
  EXPECT_GT(slots.size_for(UINT64_MAX), Slots::most_log2);
}

class Pieces : public ::testing::Test {
 protected:
  void SetUp() override {
    fd = memfd_create("weft-test", MFD_CLOEXEC);
    ASSERT_EQ(ftruncate(fd, static_cast<off_t>(gib + Slots{}.total())), 0);
    large.open(fd, gib);
  }
  void TearDown() override { close(fd); }
  int64_t blocks() const {
    struct stat file = {};
    fstat(fd, &file);
    return file.st_blocks;
  }

  int fd = -1;
  Large large;
};

TEST_F(Pieces, LieApartInTheFileAndGiveTheirPagesBack) {
  constexpr size_t bytes = (size_t{1} << 30) + 4096;
  char* pieces[70];  // more than slots of one size
  for (char*& piece : pieces) {
    piece = static_cast<char*>(large.allocate(bytes, size_t{1} << 21));
    ASSERT_NE(piece, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(piece) % (size_t{1} << 21), 0u);
    piece[0] = static_cast<char>(&piece - pieces);
    piece[bytes - 1] = 1;
  }
  EXPECT_EQ(blocks(), 70 * 2 * 8);
  for (char*& piece : pieces) {
    char read = 0;
    const auto at = large.file_offset(piece, bytes);
    ASSERT_TRUE(at);
    ASSERT_EQ(pread(fd, &read, 1, static_cast<off_t>(*at)), 1);
    EXPECT_EQ(read, static_cast<char>(&piece - pieces));
    EXPECT_FALSE(large.file_offset(piece + 1, bytes));
    EXPECT_EQ(large.file_offset(piece + 5, 1), *at + 5);
    EXPECT_EQ(large.release(piece), bytes);
    EXPECT_EQ(large.release(piece), 0u);
  }
  EXPECT_EQ(blocks(), 0);
  EXPECT_FALSE(large.file_offset(pieces[0], 1));
}

TEST_F(Pieces, AreRefusedWithoutASlotOrAddressSpace) {
  EXPECT_EQ(large.allocate((size_t{1} << 44) + 4096, 4096), nullptr);
  EXPECT_EQ(large.allocate(4096, size_t{1} << 62), nullptr);
  Large closed;
  EXPECT_EQ(closed.allocate(4096, 4096), nullptr);
  int mine = 0;
  EXPECT_EQ(large.release(&mine), 0u);
  EXPECT_FALSE(large.file_offset(&mine, sizeof mine));
}

}  // namespace
