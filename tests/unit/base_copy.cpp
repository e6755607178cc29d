// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Copies by each loop: every byte and no other, at all lengths and alignments, where the two overlap, and at the edge
// of mapped memory.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "base/copy.hpp"

namespace {

using namespace weft;
using base::CopyRoutine;

constexpr size_t guard = 64;

unsigned char byte_at(size_t i) {
  return static_cast<unsigned char>(i * 31 + i / 251);
}

std::vector<CopyRoutine> routines() {
  std::vector<CopyRoutine> all;
  for (CopyRoutine routine : {CopyRoutine::baseline, CopyRoutine::avx2, CopyRoutine::avx512}) {
    if (base::has_routine(routine)) all.push_back(routine);
  }
  return all;
}

// Copies between places of these alignments, and looks at all bytes around.
template <class Copy>
void expect_copied(size_t from_at, size_t to_at, size_t bytes, Copy&& copy) {
  std::vector<unsigned char> from(bytes + 3 * guard), to(bytes + 4 * guard, 0xee);
  for (size_t i = 0; i < from.size(); ++i) from[i] = byte_at(i);
  unsigned char* const line_of_from = from.data() + (64 - reinterpret_cast<uintptr_t>(from.data()) % 64) % 64;
  unsigned char* const line_of_to = to.data() + (64 - reinterpret_cast<uintptr_t>(to.data()) % 64) % 64;
  const std::vector<unsigned char> wanted(line_of_from + from_at, line_of_from + from_at + bytes);
  unsigned char* const place = line_of_to + to_at;
  copy(place, line_of_from + from_at, bytes);
  ASSERT_TRUE(bytes == 0 || std::memcmp(place, wanted.data(), bytes) == 0)
      << bytes << " bytes from " << from_at << " to " << to_at;
  for (const unsigned char* at = to.data(); at < to.data() + to.size(); ++at) {
    const bool inside = at >= place && at < place + bytes;
    ASSERT_TRUE(inside || *at == 0xee) << bytes << " bytes to " << to_at << ", " << at - place;
  }
}

const size_t lengths_of_loops[] = {1023, 1024, 1025, 4095, 4096, 5000, 8192, 32768, 100001};

TEST(Copy, EveryByteAndNoOtherAtAllLengthsAndAlignments) {
  for (size_t to_at = 0; to_at < 64; to_at += to_at < 17 ? 1 : 5) {
    for (size_t from_at : {0, 1, 7, 16, 33, 63}) {
      for (size_t bytes = 0; bytes <= 600; bytes += bytes < 300 ? 1 : 7)
        expect_copied(from_at, to_at, bytes, base::copy);
      for (size_t bytes : lengths_of_loops) expect_copied(from_at, to_at, bytes, base::copy);
    }
  }
}

TEST(Copy, EachLoopCopiesTheSame) {
  for (CopyRoutine routine : routines()) {
    const auto copy = [routine](void* to, const void* from, size_t bytes) { base::copy_by(routine, to, from, bytes); };
    for (size_t to_at : {0, 1, 15, 24, 63}) {
      for (size_t from_at : {0, 1, 33}) {
        for (size_t bytes = 120; bytes <= 700; ++bytes) expect_copied(from_at, to_at, bytes, copy);
        for (size_t bytes : lengths_of_loops) expect_copied(from_at, to_at, bytes, copy);
      }
    }
  }
}

TEST(Copy, OwningCopiesTheSame) {
  for (size_t to_at : {0, 1, 24, 63}) {
    for (size_t from_at : {0, 1, 33}) {
      for (size_t bytes = 0; bytes <= 600; ++bytes)
        expect_copied(from_at, to_at, bytes, [](void* to, void* from, size_t n) { base::copy_owning(to, from, n); });
      for (size_t bytes : lengths_of_loops) expect_copied(from_at, to_at, bytes, base::copy_owning);
    }
  }
}

TEST(Copy, OwningTouchesNoByteAround) {
  for (size_t bytes : {0, 1, 63, 64, 65, 129, 300, 4096, 5001}) {
    std::vector<unsigned char> from(bytes + 2 * guard, 0x55), to(bytes);
    base::copy_owning(to.data(), from.data() + guard, bytes);
    base::own_lines(from.data() + guard, bytes);
    for (size_t i = 0; i < guard; ++i) {
      ASSERT_EQ(from[i], 0x55) << bytes;
      ASSERT_EQ(from[guard + bytes + i], 0x55) << bytes;
    }
  }
}

TEST(Copy, OverlapsInBothDirections) {
  for (CopyRoutine routine : routines()) {
    for (size_t bytes : {1, 15, 33, 64, 100, 129, 257, 300, 1000, 5003}) {
      for (size_t apart : {1, 3, 16, 31, 64, 200, 4000}) {
        for (bool up : {true, false}) {
          std::vector<unsigned char> memory(bytes + apart), wanted(bytes + apart);
          for (size_t i = 0; i < memory.size(); ++i) memory[i] = wanted[i] = byte_at(i);
          unsigned char *const low = memory.data(), *const high = low + apart;
          std::memmove(wanted.data() + (up ? apart : 0), wanted.data() + (up ? 0 : apart), bytes);
          base::copy_by(routine, up ? high : low, up ? low : high, bytes);
          ASSERT_EQ(memory, wanted) << bytes << " bytes, " << apart << " apart, " << up;
        }
      }
    }
  }
}

// Two mapped pages, between pages that fault.
class Pages {
 public:
  Pages() {
    base_ = static_cast<unsigned char*>(mmap(nullptr, 4 * size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_EQ(mprotect(begin(), 2 * size(), PROT_READ | PROT_WRITE), 0);
  }
  ~Pages() { munmap(base_, 4 * size()); }
  static size_t size() { return static_cast<size_t>(getpagesize()); }
  unsigned char* begin() const { return base_ + size(); }
  unsigned char* end() const { return base_ + 3 * size(); }

 private:
  unsigned char* base_;
};

TEST(Copy, StaysInsideMappedPages) {
  const Pages from, to;
  for (size_t i = 0; i < 2 * Pages::size(); ++i) from.begin()[i] = byte_at(i);
  for (CopyRoutine routine : routines()) {
    for (size_t bytes = 0; bytes <= 1500; ++bytes) {
      base::copy_by(routine, to.begin(), from.begin(), bytes);
      base::copy_by(routine, to.end() - bytes, from.end() - bytes, bytes);
      ASSERT_TRUE(bytes == 0 || std::memcmp(to.end() - bytes, from.end() - bytes, bytes) == 0) << bytes;
    }
  }
  for (size_t bytes = 0; bytes <= 1500; ++bytes) {
    base::copy_owning(to.begin(), from.begin(), bytes);
    base::copy_owning(to.end() - bytes, from.end() - bytes, bytes);
  }
}

// Larger than the last cache of most processors: by stores that go past it.
TEST(Copy, LargeOnesAreWhole) {
  const size_t bytes = (200 << 20) + 13;
  std::vector<unsigned char> from(bytes), to(bytes + 64);
  for (size_t i = 0; i < bytes; i += 61) from[i] = byte_at(i);
  base::copy(to.data() + 5, from.data(), bytes);
  EXPECT_EQ(std::memcmp(to.data() + 5, from.data(), bytes), 0);
}

TEST(Copy, NothingFromNowhere) {
  base::copy(nullptr, nullptr, 0);
}

TEST(Copy, TheLoopHasAName) {
  EXPECT_TRUE(base::has_routine(base::copy_routine()));
  EXPECT_STRNE(base::name_of(base::copy_routine()), "");
}

}  // namespace
