// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Regions of remote memory without windows: put, get, update and compare-and-swap by each way to a region.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "core/memory/direct.hpp"
#include "core/object/identity.hpp"
#include "core/runtime/world.hpp"
#include "datatype/type.hpp"
#include "datatype_naive.hpp"

namespace weft::core::memory {
namespace {

class Regions : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    core::start(true, [] { return uint64_t{1}; });
  }
  static void TearDownTestSuite() { core::stop(); }

  // Our own memory, reached in this way.
  explicit Regions(Reach reach = Reach::mapped) {
    region_.job_rank = identity->rank;
    region_.reach = reach;
    region_.bytes = sizeof words_;
    region_.memory = register_memory(words_.data(), sizeof words_);
    region_.mapped = reinterpret_cast<char*>(words_.data());
    region_.updates = &updates_;
  }

  Region region_;
  Updates updates_{};
  Busy busy_ = 0;
  std::array<int64_t, 8> words_{};
  datatype::Type type_ = datatype::predefined("MPI_INT64_T");
  datatype::Type* const long_ = &type_;
};

Update sum_of(const datatype::Type& type, Busy& busy) {
  const Element element = element_of(type);
  return {element, datatype::Reduction::sum, element.kernel(datatype::Reduction::sum), busy};
}

TEST_F(Regions, MappedAreWrittenAndReadInPlace) {
  int64_t out[2] = {5, 6};
  ASSERT_TRUE(put(region_, {out, 2, long_, 16}, {8, 2, long_}));
  EXPECT_EQ(words_[0], 0);
  EXPECT_EQ(words_[1], 5);
  EXPECT_EQ(words_[2], 6);
  int64_t in[2] = {};
  ASSERT_TRUE(get(region_, {in, 2, long_, 16}, {8, 2, long_}));
  EXPECT_EQ(in[0], 5);
  EXPECT_EQ(in[1], 6);
}

TEST_F(Regions, LayoutsOfBothSidesMayDiffer) {
  datatype::Owned every_second(datatype::vector(2, 1, 16, *long_));
  ASSERT_TRUE(every_second);
  int64_t out[2] = {7, 8};
  ASSERT_TRUE(put(region_, {out, 2, long_, 16}, {0, 1, every_second.get()}));
  EXPECT_EQ(words_[0], 7);
  EXPECT_EQ(words_[1], 0);
  EXPECT_EQ(words_[2], 8);
}

TEST_F(Regions, UpdatesReturnWhatWasThere) {
  for (const bool atomics : {true, false}) {
    region_.atomics = atomics;
    words_[3] = 40;
    int64_t add = 2;
    int64_t old = 0;
    int32_t error = -1;
    const Local result{&old, 1, long_, 8};
    ASSERT_TRUE(update(region_, sum_of(*long_, busy_), {&add, 1, long_, 8}, &result, {24, 1, long_}, error));
    EXPECT_EQ(error, no_error);
    EXPECT_EQ(old, 40);
    EXPECT_EQ(words_[3], 42);
    for (auto& held : updates_.held) EXPECT_EQ(held, 0U);
  }
}

TEST_F(Regions, AreSwappedWhereTheyCompare) {
  for (const bool atomics : {true, false}) {
    region_.atomics = atomics;
    words_[3] = 42;
    const Element element = element_of(*long_);
    int64_t wrong = 41;
    int64_t right = 42;
    int64_t now = 1;
    int64_t old = 0;
    ASSERT_TRUE(compare_swap(region_, element, busy_, &now, &wrong, &old, {24, 1, long_}));
    EXPECT_EQ(old, 42);
    EXPECT_EQ(words_[3], 42);
    ASSERT_TRUE(compare_swap(region_, element, busy_, &now, &right, &old, {24, 1, long_}));
    EXPECT_EQ(words_[3], 1);
  }
}

TEST_F(Regions, ArraysWaitForUpdatesByTheProcessor) {
  busy_ = 1;
  std::atomic<bool> changed = false;
  std::thread other([&] {
    change_way(updates_, {&busy_});
    changed = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(changed);
  busy_ = 0;
  other.join();
  EXPECT_TRUE(changed);
  change_way(updates_, {&busy_});  // it stays so
  region_.atomics = true;
  int64_t add = 2;
  int32_t error = -1;
  ASSERT_TRUE(update(region_, sum_of(*long_, busy_), {&add, 1, long_, 8}, nullptr, {24, 1, long_}, error));
  EXPECT_EQ(words_[3], 2);
  EXPECT_EQ(busy_, 0U);
}

TEST_F(Regions, OfOtherHostsAreLeftToMessages) {
  Region far;
  int64_t word = 5;
  int32_t error = -1;
  EXPECT_FALSE(put(far, {&word, 1, long_, 8}, {0, 1, long_}));
  EXPECT_FALSE(get(far, {&word, 1, long_, 8}, {0, 1, long_}));
  EXPECT_FALSE(update(far, sum_of(*long_, busy_), {&word, 1, long_, 8}, nullptr, {0, 1, long_}, error));
  EXPECT_FALSE(compare_swap(far, element_of(*long_), busy_, &word, &word, &word, {0, 1, long_}));
  EXPECT_EQ(word, 5);
}

}  // namespace
}  // namespace weft::core::memory
