// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Large copies with the help of other threads: every byte and no other, by several callers at once, overlapping, and
// after the threads have ended. A thread that never helps is no fault, but one of very many copies has help.
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>
#include <vector>

#include "base/copy_threads.hpp"
#include "base/setting.hpp"

namespace {

using namespace weft;

class CopyThreads : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("WEFT_COPY_THREADS", "2", 1);
    setenv("WEFT_COPY_THREADS_FROM", "1024", 1);
    base::load_settings();
  }
  void TearDown() override { base::end_copy_threads(); }
};

std::vector<unsigned char> pattern(size_t bytes, unsigned salt) {
  std::vector<unsigned char> out(bytes);
  for (size_t i = 0; i < bytes; ++i) out[i] = static_cast<unsigned char>(i * 31 + i / 253 + salt);
  return out;
}

void expect_copies(unsigned salt, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    for (size_t bytes : {0, 1023, 1024, 65535, 65536, 65537, 1000003}) {
      const auto from = pattern(bytes, salt + static_cast<unsigned>(round));
      std::vector<unsigned char> to(bytes + 2, 0xee);
      base::copy_by_threads(to.data() + 1, from.data(), bytes);
      ASSERT_TRUE(to.front() == 0xee && to.back() == 0xee && std::equal(from.begin(), from.end(), to.begin() + 1))
          << bytes << " bytes";
    }
  }
}

TEST_F(CopyThreads, MoveEveryByteAndNoOther) {
  expect_copies(1, 10);
}

TEST_F(CopyThreads, CopiesOfSeveralCallersAtOnceAreEachWhole) {
  std::vector<std::thread> callers;
  for (unsigned i = 0; i < 4; ++i) callers.emplace_back([i] { expect_copies(100 * i, 5); });
  for (std::thread& caller : callers) caller.join();
}

TEST_F(CopyThreads, OverlappingMemoryIsMoved) {
  for (const int shift : {-1000, -1, 1, 1000}) {
    auto memory = pattern(500000, 7);
    const auto before = memory;
    base::copy_by_threads(memory.data() + 1000 + shift, memory.data() + 1000, 400000);
    ASSERT_TRUE(std::equal(before.begin() + 1000, before.begin() + 401000, memory.begin() + 1000 + shift)) << shift;
  }
}

TEST_F(CopyThreads, HelpAndComeBackAfterTheirEnd) {
  const auto from = pattern(8 << 20, 3);
  std::vector<unsigned char> to(from.size());
  for (int turn = 0; turn < 3; ++turn) {
    const uint64_t before = base::helped_copies();
    for (int i = 0; i < 10000 && base::helped_copies() == before; ++i) {
      std::fill(to.begin(), to.end(), 0);
      base::copy_by_threads(to.data(), from.data(), from.size());
      ASSERT_EQ(to, from);
    }
    EXPECT_GT(base::helped_copies(), before);
    base::end_copy_threads();
  }
}

}  // namespace
