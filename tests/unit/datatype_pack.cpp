// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Packing, unpacking and copying, of random trees and of what they may not cover.

#include <gtest/gtest.h>

#include <cstdlib>

#include "datatype/runs.hpp"
#include "datatype_naive.hpp"

namespace weft::datatype {
namespace {

// So many, or the part that TEST_SCALE asks for; of the least numbers that are expected too.
int rounds(int whole) {
  const char* scale = std::getenv("TEST_SCALE");
  return scale == nullptr ? whole : static_cast<int>(whole * std::strtod(scale, nullptr));
}

// Cuts [0, bytes) at random places.
std::vector<int64_t> random_cuts(Random& random, int64_t bytes) {
  std::vector<int64_t> cuts = {0, bytes};
  for (int64_t i = pick(random, 0, 6); i > 0; --i) cuts.push_back(pick(random, 0, bytes));
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

TEST(DatatypePack, AnyPartOfAnyTreePacksAndUnpacks) {
  constexpr int seed = 2;
  Random random(seed);
  int unpacked = 0;
  for (int round = 0; round < rounds(2000); ++round) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", round " << round);
    Pair pair = random_type(random, static_cast<int>(pick(random, 0, 24)));
    ASSERT_TRUE(pair.type);
    const int64_t count = pick(random, 1, 4);
    const Naive all = pair.naive.repeated(count, pair.type->extent);
    const auto bytes = static_cast<int64_t>(all.bytes.size());
    Buffer buffer(all, random);
    std::vector<int64_t> cuts = random_cuts(random, bytes);
    std::vector<size_t> order(cuts.size() - 1);
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);

    std::vector<unsigned char> packed(static_cast<size_t>(bytes));
    std::vector<unsigned char> expected;
    for (int64_t byte : all.bytes) expected.push_back(buffer[byte]);
    for (size_t part : order) {
      pack(*pair.type, count, buffer.origin(), cuts[part], packed.data() + cuts[part], cuts[part + 1] - cuts[part]);
    }
    ASSERT_EQ(packed, expected);

    if (all.overlaps()) continue;
    ++unpacked;
    for (auto& byte : packed) byte = static_cast<unsigned char>(random());
    Buffer target(all, random);
    Buffer wanted = target;
    for (int64_t i = 0; i < bytes; ++i) wanted[all.bytes[static_cast<size_t>(i)]] = packed[static_cast<size_t>(i)];
    for (size_t part : order) {
      unpack(*pair.type, count, target.origin(), cuts[part], packed.data() + cuts[part], cuts[part + 1] - cuts[part]);
    }
    ASSERT_EQ(target.memory, wanted.memory) << "bytes outside the type were written, or wrong ones inside";
  }
  EXPECT_GT(unpacked, rounds(500));
}

TEST(DatatypePack, NestsDeeperThanTheirLoopsPack) {
  constexpr int seed = 6;
  Random random(seed);
  Owned type(duplicate(predefined("MPI_CHAR")));
  Naive naive = Naive::of(*type, 1);
  for (int level = 0; level < max_loops + 3; ++level) {
    const int64_t stride = 2 * type->extent + 1;
    type.reset(vector(2, 1, stride, *type));
    naive = naive.vector(2, 1, stride);
  }
  Buffer buffer(naive, random);
  const auto bytes = static_cast<int64_t>(naive.bytes.size());
  for (int round = 0; round < rounds(200); ++round) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", round " << round);
    const int64_t from = pick(random, 0, bytes);
    const int64_t to = pick(random, from, bytes);
    std::vector<unsigned char> packed(static_cast<size_t>(to - from));
    pack(*type, 1, buffer.origin(), from, packed.data(), to - from);
    for (int64_t i = from; i < to; ++i) {
      ASSERT_EQ(packed[static_cast<size_t>(i - from)], buffer[naive.bytes[static_cast<size_t>(i)]]);
    }
  }
}

TEST(DatatypePack, CopyGoesBetweenUnlikeLayouts) {
  constexpr int seed = 3;
  Random random(seed);
  int copied = 0;
  for (int round = 0; round < rounds(2000); ++round) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", round " << round);
    Pair from = random_type(random, static_cast<int>(pick(random, 0, 10)));
    Pair to = random_type(random, static_cast<int>(pick(random, 0, 10)));
    const int64_t from_count = pick(random, 1, 30);
    const int64_t to_count = pick(random, 1, 30);
    const Naive source = from.naive.repeated(from_count, from.type->extent);
    const Naive target = to.naive.repeated(to_count, to.type->extent);
    if (target.overlaps()) continue;
    const auto both = std::min(source.bytes.size(), target.bytes.size());
    const auto bytes = static_cast<size_t>(pick(random, 0, static_cast<int64_t>(both) + 10));
    Buffer in(source, random);
    Buffer out(target, random);
    Buffer wanted = out;
    for (size_t i = 0; i < std::min(bytes, both); ++i) wanted[target.bytes[i]] = in[source.bytes[i]];
    copy(*from.type, from_count, in.origin(), *to.type, to_count, out.origin(), static_cast<int64_t>(bytes));
    ASSERT_EQ(out.memory, wanted.memory);
    copied += bytes > 8192;
  }
  EXPECT_GT(copied, rounds(20)) << "the staged copy was not made to take several steps";
}

TEST(DatatypeRuns, TheRunsOfAnyTreeAreItsBytesInOrder) {
  constexpr int seed = 5;
  Random random(seed);
  for (int round = 0; round < rounds(1000); ++round) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", round " << round);
    const Pair pair = random_type(random, static_cast<int>(pick(random, 0, 12)));
    const int64_t count = pick(random, 1, 4);
    const Naive all = pair.naive.repeated(count, pair.type->extent);
    const auto bytes = static_cast<int64_t>(all.bytes.size());
    Buffer buffer(all, random);
    const int64_t end = pick(random, 0, bytes);
    int64_t position = pick(random, 0, end);
    const int room = static_cast<int>(pick(random, 1, 9));
    while (position < end) {
      iovec runs[9];
      const Runs listed = list_runs(*pair.type, count, buffer.origin(), position, end - position, runs, room);
      ASSERT_GT(listed.count, 0);
      ASSERT_LE(listed.count, room);
      const int64_t before = position;
      for (int i = 0; i < listed.count; ++i) {
        const auto* at = static_cast<unsigned char*>(runs[i].iov_base);
        for (size_t k = 0; k < runs[i].iov_len; ++k) {
          ASSERT_EQ(at + k, &buffer[all.bytes[static_cast<size_t>(position++)]]);
        }
      }
      ASSERT_EQ(position - before, listed.bytes);
    }
    ASSERT_EQ(position, end);
  }
}

TEST(DatatypePack, AbsoluteAddressesWorkFromANullBuffer) {
  int32_t value[3] = {1, 2, 3};
  Type absolute = predefined("MPI_INT");  // as an indexed type on MPI_BOTTOM will be
  absolute.first = reinterpret_cast<intptr_t>(value);
  absolute.contiguous = false;
  int32_t out[3] = {};
  pack(absolute, 3, nullptr, 0, out, sizeof out);
  EXPECT_EQ(out[0] + 10 * out[1] + 100 * out[2], 321);
}

TEST(DatatypePack, NothingIsMovedBeyondTheElements) {
  const Type integer = predefined("MPI_INT");
  const int32_t in[2] = {1, 2};
  int32_t out[2] = {7, 7};
  pack(integer, 1, in, 0, out, 8);
  EXPECT_EQ(out[1], 7);
  const Owned nothing(contiguous(0, integer));
  pack(*nothing, 5, in, 0, out, 8);
  EXPECT_EQ(out[0], 1);
}

}  // namespace
}  // namespace weft::datatype
