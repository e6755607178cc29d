// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The copying kernels, for every size of block: the right bytes, and none beside them.

#include <gtest/gtest.h>

#include <vector>

#include "datatype/rows.hpp"
#include "datatype_naive.hpp"

namespace weft::datatype {
namespace {

using Bytes = std::vector<unsigned char>;

Bytes random_bytes(Random& random, size_t count) {
  Bytes bytes(count);
  for (auto& byte : bytes) byte = static_cast<unsigned char>(random());
  return bytes;
}

// Packs and unpacks the same blocks, which `offsets` names, and compares with a copy byte by byte.
template <class Pack, class Unpack>
void expect_moves(Random& random, const std::vector<int64_t>& offsets, int64_t block, Pack&& pack, Unpack&& unpack) {
  constexpr size_t margin = 64;
  const auto blocks = static_cast<int64_t>(offsets.size());
  const int64_t span = *std::max_element(offsets.begin(), offsets.end()) + block;
  const Bytes buffer = random_bytes(random, static_cast<size_t>(span) + 2 * margin);
  Bytes packed = random_bytes(random, static_cast<size_t>(blocks * block) + 2 * margin);
  Bytes wanted = packed;
  for (int64_t i = 0; i < blocks * block; ++i) {
    const auto from = static_cast<size_t>(offsets[static_cast<size_t>(i / block)] + i % block);
    wanted[margin + static_cast<size_t>(i)] = buffer[margin + from];
  }
  pack(const_cast<unsigned char*>(buffer.data()) + margin, packed.data() + margin);
  ASSERT_EQ(packed, wanted);

  Bytes target = random_bytes(random, buffer.size());
  wanted = target;
  for (int64_t i = 0; i < blocks * block; ++i) {
    const auto to = static_cast<size_t>(offsets[static_cast<size_t>(i / block)] + i % block);
    wanted[margin + to] = packed[margin + static_cast<size_t>(i)];
  }
  unpack(target.data() + margin, packed.data() + margin);
  ASSERT_EQ(target, wanted);
}

void expect_kernels(Random& random, int64_t block, bool wide) {
  const int64_t count = pick(random, 1, 9);
  const int64_t rows = pick(random, 1, 3);
  const int64_t stride = block + pick(random, 0, 40);
  const int64_t row_stride = count * stride + pick(random, 0, 9);
  std::vector<int64_t> offsets;
  for (int64_t k = 0; k < rows; ++k) {
    for (int64_t i = 0; i < count; ++i) offsets.push_back(k * row_stride + i * stride);
  }
  const auto strided = [&](unsigned char* at) {
    return Strided{reinterpret_cast<uintptr_t>(at), stride, count, row_stride, rows};
  };
  const auto listed = [&](unsigned char* at) {
    return Listed{reinterpret_cast<uintptr_t>(at), offsets.data(), static_cast<int64_t>(offsets.size())};
  };
  const auto bytes = [](unsigned char* packed) { return reinterpret_cast<char*>(packed); };
  expect_moves(
      random, offsets, block,
      [&](auto* at, auto* to) { kernel_for<Direction::pack, Strided>(block, wide)(strided(at), block, bytes(to)); },
      [&](auto* at, auto* to) { kernel_for<Direction::unpack, Strided>(block, wide)(strided(at), block, bytes(to)); });
  expect_moves(
      random, offsets, block,
      [&](auto* at, auto* to) { kernel_for<Direction::pack, Listed>(block, wide)(listed(at), block, bytes(to)); },
      [&](auto* at, auto* to) { kernel_for<Direction::unpack, Listed>(block, wide)(listed(at), block, bytes(to)); });
}

TEST(DatatypeKernels, EverySizeOfBlockMoves) {
  constexpr int seed = 7;
  Random random(seed);
  for (int64_t block = 1; block <= 300; ++block) {
    for (bool wide : {false, true}) {
      if (wide && !has_wide_registers()) continue;
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", blocks of " << block << (wide ? ", wide" : ""));
      expect_kernels(random, block, wide);
      if (HasFatalFailure()) return;
    }
  }
}

// Small blocks at small distances, which a processor may take many at a time: every pair of sizes, and counts around
// what fits into a register.
TEST(DatatypeKernels, SmallBlocksMoveManyAtATime) {
  constexpr int seed = 8;
  Random random(seed);
  const Type letter = predefined("MPI_CHAR");
  for (int64_t block = 1; block <= 20; ++block) {
    for (int64_t stride = block + 1; stride <= 70; ++stride) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", blocks of " << block << " at " << stride);
      const int64_t count = pick(random, 1, 70);
      const Owned type(vector(count, block, stride, letter));
      std::vector<int64_t> offsets;
      for (int64_t i = 0; i < count; ++i) offsets.push_back(i * stride);
      const int64_t bytes = count * block;
      expect_moves(
          random, offsets, block, [&](auto* at, auto* to) { pack(*type, 1, at, 0, to, bytes); },
          [&](auto* at, auto* from) { unpack(*type, 1, at, 0, from, bytes); });
      if (HasFatalFailure()) return;
    }
  }
}

// Arrays of structs with members of one to nine bytes, up to several hundred bytes long.
TEST(DatatypeKernels, ArraysOfStructsMove) {
  constexpr int seed = 9;
  Random random(seed);
  const Type letter = predefined("MPI_CHAR");
  for (int round = 0; round < 2000; ++round) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", round " << round);
    std::vector<Part> parts;
    std::vector<int64_t> member;  // the place of each byte
    int64_t end = 0;
    for (int64_t i = pick(random, 1, 40); i > 0; --i) {
      const int64_t bytes = pick(random, 1, 9);
      end += pick(random, 0, 5);
      parts.push_back({end, bytes, &letter});
      for (int64_t k = 0; k < bytes; ++k) member.push_back(end++);
    }
    const Owned one(structure(parts.data(), static_cast<int64_t>(parts.size())));
    const Owned type(resized(*one, 0, end + pick(random, 0, 9)));
    const int64_t count = pick(random, 1, 12);
    std::vector<int64_t> offsets;
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t byte : member) offsets.push_back(i * type->extent + byte);
    }
    const int64_t bytes = count * type->size;
    expect_moves(
        random, offsets, 1, [&](auto* at, auto* to) { pack(*type, count, at, 0, to, bytes); },
        [&](auto* at, auto* from) { unpack(*type, count, at, 0, from, bytes); });
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace weft::datatype
