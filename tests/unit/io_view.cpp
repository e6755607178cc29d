// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Views: the runs of a stream of bytes in the file, against a list of all its bytes; and runs as groups.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "datatype/pack.hpp"
#include "io/strided_runs.hpp"
#include "io/view.hpp"

namespace weft::io {
namespace {

using datatype::byte_type;
using datatype::Part;

Type* made(Type* type) {
  EXPECT_NE(type, nullptr);
  type->committed = true;
  return type;
}

// `lengths` bytes at `offsets`, and an extent.
Type* pattern(const std::vector<int64_t>& offsets, const std::vector<int64_t>& lengths, int64_t extent) {
  std::vector<Part> parts;
  for (size_t i = 0; i < offsets.size(); ++i) parts.push_back({offsets[i], lengths[i], &byte_type});
  Type* plain = datatype::structure(parts.data(), static_cast<int64_t>(parts.size()));
  Type* type = made(datatype::resized(*plain, 0, extent));
  datatype::destroy(plain);
  return type;
}

std::vector<int64_t> bytes_of(const View& view, int64_t position, int64_t bytes) {
  std::vector<int64_t> all;
  Run runs[7];
  while (bytes > 0) {
    int64_t covered = 0;
    const int count = view.list(position, bytes, runs, 7, covered);
    EXPECT_GT(count, 0);
    if (count == 0) break;
    int64_t listed = 0;
    for (int i = 0; i < count; ++i) {
      for (int64_t k = 0; k < runs[i].bytes; ++k) all.push_back(runs[i].offset + k);
      listed += runs[i].bytes;
    }
    EXPECT_EQ(listed, covered);
    position += covered;
    bytes -= covered;
  }
  return all;
}

TEST(View, ListsTheBytesOfRandomFiletypesFromAnyPositionOn) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> offsets, lengths, in_tile;
    int64_t at = random() % 3;
    for (unsigned i = 0; i < 1 + random() % 6; ++i) {
      const int64_t length = 1 + random() % 9;
      offsets.push_back(at);
      lengths.push_back(length);
      for (int64_t k = 0; k < length; ++k) in_tile.push_back(at + k);
      at += length + random() % 5;
    }
    const int64_t extent = at + random() % 4;
    Type* type = pattern(offsets, lengths, extent);
    const View view{.displacement = static_cast<int64_t>(random() % 100), .filetype = type};
    const auto size = static_cast<int64_t>(in_tile.size());
    const int64_t position = random() % (5 * size);
    const int64_t bytes = random() % (9 * size);
    const std::vector<int64_t> found = bytes_of(view, position, bytes);
    ASSERT_EQ(static_cast<int64_t>(found.size()), bytes);
    for (int64_t i = 0; i < bytes; ++i) {
      const int64_t p = position + i;
      const int64_t wanted = view.displacement + p / size * extent + in_tile[static_cast<size_t>(p % size)];
      ASSERT_EQ(found[static_cast<size_t>(i)], wanted);
      ASSERT_EQ(view.offset_of(p), wanted);
      ASSERT_EQ(view.position_at(wanted), p);
      ASSERT_GE(view.offset_of(view.position_at(wanted + 1)), wanted + 1);
    }
    datatype::destroy(type);
  }
}

TEST(View, ReachesAsFarAs64Bits) {
  Type* type = pattern({0}, {4}, int64_t{1} << 40);
  const View view{.displacement = 8, .filetype = type};
  const int64_t far = int64_t{4} << 20;
  EXPECT_TRUE(view.reaches(far, 4));
  EXPECT_EQ(view.offset_of(far), 8 + (int64_t{1} << 60));
  EXPECT_FALSE(view.reaches(int64_t{4} << 24, 4));
  EXPECT_FALSE(view.reaches(INT64_MAX, 1));
  EXPECT_FALSE(view.reaches(-1, 1));
  datatype::destroy(type);
}

TEST(View, TellsTypesThatAreNoFiletypes) {
  struct Row {
    std::vector<int64_t> offsets, lengths;
    bool negative, falling, overlaps;
  };
  const Row rows[] = {
      {{0, 8}, {4, 4}, false, false, false}, {{-4, 8}, {4, 4}, true, false, false}, {{8, 0}, {4, 4}, false, true, true},
      {{0, 2}, {4, 4}, false, false, true},  {{0, 0}, {4, 4}, false, false, true},
  };
  for (const Row& row : rows) {
    Type* type = pattern(row.offsets, row.lengths, 100);
    const Order order = order_of(*type);
    EXPECT_EQ(order.negative, row.negative) << row.offsets[0];
    EXPECT_EQ(order.falling, row.falling) << row.offsets[0];
    EXPECT_EQ(order.overlaps, row.overlaps) << row.offsets[0];
    datatype::destroy(type);
  }
  Type* columns = made(datatype::vector(10, 3, 7, byte_type));
  EXPECT_FALSE(order_of(*columns).falling || order_of(*columns).overlaps);
  datatype::destroy(columns);
}

TEST(StridedRuns, GivesBackTheRunsThatMadeIt) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<StridedRuns> groups;
    std::vector<int64_t> bytes;
    int64_t at = random() % 50;
    for (unsigned i = 0; i < random() % 40; ++i) {
      const int64_t length = random() % 3 == 0 ? 1 + random() % 9 : 4;
      add_run(groups, {at, length});
      for (int64_t k = 0; k < length; ++k) bytes.push_back(at + k);
      at += length + (random() % 3 == 0 ? random() % 7 : 4);
    }
    EXPECT_TRUE(are_sound(groups, 0, at + 1));
    // In windows, by runs and by skips.
    std::vector<int64_t> found;
    Cursor runs(groups), skips(groups);
    for (int64_t limit = 0; limit < at + 30; limit += 1 + random() % 30) {
      int64_t in_window = 0;
      for (io::Run run{}; runs.next(limit, run);) {
        for (int64_t k = 0; k < run.bytes; ++k) found.push_back(run.offset + k);
        in_window += run.bytes;
      }
      ASSERT_EQ(skips.skip(limit), in_window);
    }
    ASSERT_EQ(found, bytes);
  }
}

TEST(StridedRuns, UnsoundListsAreFound) {
  EXPECT_TRUE(are_sound({{10, 4, 8, 3}}, 10, 30));
  EXPECT_FALSE(are_sound({{10, 4, 8, 3}}, 10, 29));
  EXPECT_FALSE(are_sound({{10, 4, 8, 3}}, 11, 100));
  EXPECT_FALSE(are_sound({{10, 4, 2, 3}}, 0, 100));
  EXPECT_FALSE(are_sound({{10, 0, 8, 3}}, 0, 100));
  EXPECT_FALSE(are_sound({{10, 4, 8, 0}}, 0, 100));
  EXPECT_FALSE(are_sound({{10, 4, INT64_MAX, 3}}, 0, INT64_MAX));
  EXPECT_FALSE(are_sound({{10, 4, 8, 3}, {20, 4, 0, 1}}, 0, 100));
}

}  // namespace
}  // namespace weft::io
