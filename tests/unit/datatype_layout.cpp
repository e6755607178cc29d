// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Layouts: bounds, the form they take, the basics they are made of.

#include <gtest/gtest.h>

#include <tuple>

#include "base/object.hpp"
#include "datatype/blocks.hpp"
#include "datatype_naive.hpp"

namespace weft::datatype {
namespace {

void expect_bounds(const Type& type, const Naive& naive) {
  EXPECT_EQ(type.size, static_cast<int64_t>(naive.bytes.size()));
  EXPECT_EQ(type.lower_bound, naive.lower);
  EXPECT_EQ(type.extent, naive.upper - naive.lower);
  EXPECT_EQ(type.true_lower_bound, naive.true_lower());
  EXPECT_EQ(type.true_extent, naive.true_extent());
}

TEST(DatatypeLayout, TheTypeOfBytesIsMpiByte) {
  const Type row = predefined("MPI_BYTE");
  EXPECT_STREQ(byte_type.name, row.name);
  EXPECT_EQ(byte_type.kind, row.kind);
  EXPECT_EQ(byte_type.basic, row.basic);
  EXPECT_TRUE(byte_type.plain && byte_type.predefined);
  EXPECT_EQ(std::tuple(byte_type.size, byte_type.extent, byte_type.true_extent, byte_type.nest.block),
            std::tuple(row.size, row.extent, row.true_extent, row.nest.block));
  EXPECT_EQ(std::tuple(byte_type.alignment, byte_type.basic_count), std::tuple(row.alignment, row.basic_count));
}

TEST(DatatypeLayout, RandomTreesHaveTheBoundsOfTheStandard) {
  constexpr int seed = 1;
  Random random(seed);
  int with_blocks = 0;
  for (int round = 0; round < 2000; ++round) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", round " << round);
    Pair pair = random_type(random, static_cast<int>(pick(random, 0, 24)));
    ASSERT_TRUE(pair.type);
    expect_bounds(*pair.type, pair.naive);
    if (HasFailure()) return;
    with_blocks += pair.type->nest.blocks != nullptr;

    // `contiguous` is exactly: several elements are the bytes from the buffer's address on.
    const Naive three = pair.naive.repeated(3, pair.type->extent);
    bool gapless = pair.type->lower_bound == 0 && pair.type->extent == pair.type->size;
    for (size_t i = 0; i < three.bytes.size(); ++i) gapless = gapless && three.bytes[i] == static_cast<int64_t>(i);
    EXPECT_EQ(pair.type->contiguous, gapless);
  }
  EXPECT_GT(with_blocks, 300);
}

TEST(DatatypeLayout, LoopsMergeIntoTheFewestPossible) {
  const Type integer = predefined("MPI_INT");
  const Owned row(contiguous(10, integer));
  EXPECT_TRUE(row->contiguous);
  EXPECT_EQ(row->nest.loops, 0);
  const Owned same(vector(6, 5, 5 * 4, integer));
  EXPECT_TRUE(same->contiguous);
  EXPECT_EQ(same->nest.block, 120);
  const Owned column(vector(10, 1, 40, integer));
  EXPECT_EQ(column->nest.loops, 1);
  EXPECT_EQ(column->nest.block, 4);
  EXPECT_EQ(column->extent, 9 * 40 + 4);
  const Owned next(resized(*column, 0, 400));
  const Owned columns(contiguous(7, *next));
  EXPECT_EQ(columns->nest.loops, 1) << "one loop goes on where the other ended";
  EXPECT_EQ(columns->nest.loop[0].count, 70);
  EXPECT_EQ(columns->basic_count, 70);
  EXPECT_EQ(columns->basic, Basic::int32);
}

TEST(DatatypeLayout, DeepNestsStayLoops) {
  Owned type(duplicate(predefined("MPI_CHAR")));
  for (int level = 0; level < max_loops + 3; ++level) type.reset(vector(2, 1, 2 * type->extent + 1, *type));
  EXPECT_EQ(type->nest.loops, 3);
  ASSERT_NE(type->nest.blocks, nullptr);
  EXPECT_EQ(type->nest.blocks->count, 1) << "nothing is written out";
  EXPECT_EQ(type->nest.blocks->nests[0].loops, max_loops);
  EXPECT_EQ(type->size, 1 << (max_loops + 3));
  const Owned again(duplicate(*type));
  EXPECT_EQ(again->nest.blocks, type->nest.blocks) << "layouts share what never changes";
}

std::vector<Part> blocks_of(const Type& type, std::initializer_list<int64_t> offsets, int64_t count) {
  std::vector<Part> parts;
  for (int64_t offset : offsets) parts.push_back({offset, count, &type});
  return parts;
}

Owned made_of(const std::vector<Part>& parts) {
  return Owned(structure(parts.data(), static_cast<int64_t>(parts.size())));
}

void expect_same_nest(const Type& a, const Type& b) {
  EXPECT_EQ(a.first, b.first);
  EXPECT_EQ(a.nest.block, b.nest.block);
  EXPECT_EQ(a.nest.blocks, b.nest.blocks);
  ASSERT_EQ(a.nest.loops, b.nest.loops);
  for (int k = 0; k < a.nest.loops; ++k) {
    EXPECT_EQ(a.nest.loop[k].count, b.nest.loop[k].count);
    EXPECT_EQ(a.nest.loop[k].stride, b.nest.loop[k].stride);
  }
}

TEST(DatatypeStructure, EqualDistancesAreALoop) {
  const Type real = predefined("MPI_DOUBLE");
  const Owned column(vector(4, 2, 40, real));
  expect_same_nest(*made_of(blocks_of(real, {0, 40, 80, 120}, 2)), *column);
  EXPECT_EQ(made_of(blocks_of(real, {0, 16, 32, 48}, 2))->nest.loops, 0) << "blocks that touch are one";
  EXPECT_TRUE(made_of(blocks_of(real, {0, 16, 32, 48}, 2))->contiguous);
  EXPECT_FALSE(made_of(blocks_of(real, {8}, 2))->contiguous);
}

TEST(DatatypeStructure, NestedDistancesAreNestedLoops) {
  const Type real = predefined("MPI_DOUBLE");
  const Owned row(vector(3, 1, 24, real));
  const Owned rows(vector(2, 1, 1000, *row));
  const Owned boxes(vector(2, 1, 5000, *rows));
  const Owned listed = made_of(blocks_of(real, {0, 24, 48, 1000, 1024, 1048, 5000, 5024, 5048, 6000, 6024, 6048}, 1));
  expect_same_nest(*listed, *boxes);
}

TEST(DatatypeStructure, StructOfOneIsThatOne) {
  const Owned row(vector(3, 1, 24, predefined("MPI_DOUBLE")));
  expect_same_nest(*made_of(blocks_of(*row, {0}, 1)), *row);
}

TEST(DatatypeStructure, ListsOfLoopsDoNotUnfold) {
  const Owned row(vector(1000, 1, 24, predefined("MPI_DOUBLE")));
  const Owned odd = made_of(blocks_of(*row, {0, 100000, 300000, 350000, 777777}, 2));
  ASSERT_NE(odd->nest.blocks, nullptr);
  EXPECT_EQ(odd->nest.blocks->count, 5);
  EXPECT_EQ(odd->nest.blocks->nest_count, 1) << "equal blocks share their loops";
  EXPECT_EQ(odd->nest.blocks->packed, nullptr) << "and one length";
}

TEST(DatatypeStructure, EndsWhereTheCompilerEndsIt) {
  struct Mixed {
    double value;
    int32_t count;
    char name[3];
  };
  const Type real = predefined("MPI_DOUBLE");
  const Type integer = predefined("MPI_INT");
  const Type letter = predefined("MPI_CHAR");
  const Owned type = made_of(
      {{offsetof(Mixed, value), 1, &real}, {offsetof(Mixed, count), 1, &integer}, {offsetof(Mixed, name), 3, &letter}});
  EXPECT_EQ(type->size, 15);
  EXPECT_EQ(type->extent, static_cast<int64_t>(sizeof(Mixed)));
  EXPECT_EQ(type->nest.blocks, nullptr) << "the members touch each other";
}

TEST(DatatypeStructure, BoundsThatWereSetOutweighOthers) {
  const Type real = predefined("MPI_DOUBLE");
  const Owned narrow(resized(predefined("MPI_INT"), -4, 12));
  const Owned type = made_of({{0, 2, narrow.get()}, {100, 1, &real}});
  EXPECT_EQ(type->lower_bound, -4);
  EXPECT_EQ(type->extent, 24);
  EXPECT_EQ(type->true_extent, 108);
}

TEST(DatatypeStructure, PartsWithoutElementsDoNotCount) {
  const Type real = predefined("MPI_DOUBLE");
  const Type integer = predefined("MPI_INT");
  const Owned type = made_of({{-1000, 0, &real}, {4, 2, &integer}});
  EXPECT_EQ(type->lower_bound, 4);
  EXPECT_EQ(type->extent, 8);
  EXPECT_EQ(made_of({})->extent, 0);
}

TEST(DatatypeStructure, RefusesWhatCannotBe) {
  const Type real = predefined("MPI_DOUBLE");
  EXPECT_EQ(made_of({{0, -1, &real}}), nullptr);
  EXPECT_EQ(made_of({{INT64_MAX - 3, 1, &real}}), nullptr);
  EXPECT_EQ(made_of({{INT64_MAX - 100, 1, &real}, {INT64_MIN + 100, 1, &real}}), nullptr);
  EXPECT_EQ(made_of({{0, INT64_MAX / 8, &real}, {0, INT64_MAX / 8, &real}}), nullptr);
  const int64_t huge[] = {int64_t{1} << 31, int64_t{1} << 31};
  const int64_t one[] = {1, 1};
  const int64_t zero[] = {0, 0};
  EXPECT_EQ(subarray(2, huge, one, zero, false, real), nullptr);
}

TEST(DatatypeSubarray, FacesOfABoxAreOneOrTwoLoops) {
  const Type real = predefined("MPI_DOUBLE");
  const int64_t sizes[] = {128, 128, 128};
  const int64_t zero[] = {0, 0, 0};
  const int64_t x_face[] = {1, 128, 128};
  const int64_t y_face[] = {128, 1, 128};
  const int64_t z_face[] = {128, 128, 1};
  EXPECT_EQ(Owned(subarray(3, sizes, x_face, zero, false, real))->nest.loops, 0);
  const Owned y(subarray(3, sizes, y_face, zero, false, real));
  EXPECT_EQ(y->nest.loops, 1);
  EXPECT_EQ(y->nest.block, 1024);
  const Owned z(subarray(3, sizes, z_face, zero, false, real));
  EXPECT_EQ(z->nest.loops, 1) << "the rows continue each other";
  EXPECT_EQ(z->nest.loop[0].count, 128 * 128);
}

TEST(DatatypeElements, MixedTreesNameTheirBasicsInOrder) {
  constexpr int seed = 4;
  Random random(seed);
  int mixed = 0;
  for (int round = 0; round < 1000; ++round) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", round " << round);
    const Pair pair = random_type(random, static_cast<int>(pick(random, 0, 10)));
    ASSERT_TRUE(pair.type);
    std::vector<Basic> found;
    for_each_basic(*pair.type, [&found](Basic basic, int64_t items) {
      EXPECT_GT(items, 0);
      found.insert(found.end(), static_cast<size_t>(items), basic);
    });
    ASSERT_EQ(found, pair.naive.basics);
    const bool uniform = std::adjacent_find(found.begin(), found.end(), std::not_equal_to<>()) == found.end();
    ASSERT_EQ(pair.type->basic, uniform && !found.empty() ? found[0] : Basic::none);
    mixed += !uniform;

    // Where basic elements end, over two elements of the type.
    int64_t bytes = 0;
    int64_t basics = 0;
    for (int element = 0; element < 2; ++element) {
      for (Basic basic : found) {
        const BasicSize size = basic_size(basic);
        for (int8_t part : {size.first, size.second}) {
          if (part == 0) continue;
          ASSERT_EQ(basics_in(*pair.type, bytes), basics);
          ASSERT_EQ(bytes_of_basics(*pair.type, basics), bytes);
          if (part > 1) {
            ASSERT_EQ(basics_in(*pair.type, bytes + 1), -1);
          }
          bytes += part;
          ++basics;
        }
      }
    }
    ASSERT_EQ(basics, 2 * pair.type->basic_count);
  }
  EXPECT_GT(mixed, 100);
}

TEST(DatatypeElements, CountsBasicsAndSeesBrokenOnes) {
  const Type pair = predefined("MPI_DOUBLE_INT");
  EXPECT_EQ(basics_in(pair, 0), 0);
  EXPECT_EQ(basics_in(pair, 8), 1);
  EXPECT_EQ(basics_in(pair, 12), 2);
  EXPECT_EQ(basics_in(pair, 20), 3);
  EXPECT_EQ(basics_in(pair, 10), -1);
  const Owned column(vector(3, 1, 40, predefined("MPI_INT")));
  EXPECT_EQ(basics_in(*column, 20), 5);
  EXPECT_EQ(basics_in(*column, 21), -1);
}

TEST(DatatypeLayout, RefusesWhatCannotBe) {
  const Type real = predefined("MPI_DOUBLE");
  EXPECT_EQ(contiguous(-1, real), nullptr);
  EXPECT_EQ(vector(2, -1, 8, real), nullptr);
  EXPECT_EQ(contiguous(INT64_MAX / 4, real), nullptr) << "the size leaves 64 bits";
  EXPECT_EQ(vector(4, 1, INT64_MAX / 2, real), nullptr) << "the extent leaves 64 bits";
}

TEST(DatatypeLayout, DuplicateKeepsWhetherCommitted) {
  const Type real = predefined("MPI_DOUBLE");
  const Owned derived(contiguous(2, real));
  EXPECT_FALSE(derived->committed);
  EXPECT_FALSE(derived->predefined);
  EXPECT_EQ(derived->kind, base::Kind::datatype);
  derived->committed = true;
  const Owned again(duplicate(*derived));
  EXPECT_TRUE(again->committed);
  EXPECT_EQ(again->references.now(), 1);
}

TEST(DatatypeLayout, DataAwayFromTheBufferIsNotContiguous) {
  Type shifted = predefined("MPI_INT");  // as an indexed type with one block will be
  shifted.first = shifted.true_lower_bound = 4;
  const Owned type(resized(shifted, 0, 4));
  EXPECT_FALSE(type->contiguous);
}

TEST(DatatypePredefined, SizesAreThoseOfTheCompiler) {
  struct ShortInt {
    short value;
    int index;
  };
  struct DoubleInt {
    double value;
    int index;
  };
  struct LongInt {
    long value;
    int index;
  };
  struct LongDoubleInt {
    long double value;
    int index;
  };
  struct Row {
    const char* name;
    size_t size;
    size_t extent;
  };
  const Row expected[] = {
      {"MPI_CHAR", 1, 1},
      {"MPI_WCHAR", sizeof(wchar_t), sizeof(wchar_t)},
      {"MPI_SHORT", sizeof(short), sizeof(short)},
      {"MPI_LONG", sizeof(long), sizeof(long)},
      {"MPI_UNSIGNED_LONG_LONG", sizeof(long long), sizeof(long long)},
      {"MPI_CXX_BOOL", sizeof(bool), sizeof(bool)},
      {"MPI_LONG_DOUBLE", sizeof(long double), sizeof(long double)},
      {"MPI_C_LONG_DOUBLE_COMPLEX", 2 * sizeof(long double), 2 * sizeof(long double)},
      {"MPI_AINT", sizeof(void*), sizeof(void*)},
      {"MPI_SHORT_INT", sizeof(short) + sizeof(int), sizeof(ShortInt)},
      {"MPI_DOUBLE_INT", sizeof(double) + sizeof(int), sizeof(DoubleInt)},
      {"MPI_LONG_INT", sizeof(long) + sizeof(int), sizeof(LongInt)},
      {"MPI_LONG_DOUBLE_INT", sizeof(long double) + sizeof(int), sizeof(LongDoubleInt)},
      {"MPI_2DOUBLE_PRECISION", 16, 16},
      {"MPI_LOGICAL", 4, 4},
      {"MPI_REAL2", 2, 2},
      {"MPI_REAL16", 16, 16},
      {"MPI_COMPLEX4", 4, 4},
      {"MPI_COMPLEX32", 32, 32},
      {"MPI_INTEGER16", 16, 16},
  };
  for (const Row& row : expected) {
    SCOPED_TRACE(row.name);
    const Type type = predefined(row.name);
    EXPECT_EQ(type.size, static_cast<int64_t>(row.size));
    EXPECT_EQ(type.extent, static_cast<int64_t>(row.extent));
  }
  EXPECT_EQ(predefined_types().size(), 70U);
  for (const Predefined& row : predefined_types()) {
    Type type;
    build_predefined(row, type);
    SCOPED_TRACE(row.name);
    expect_bounds(type, Naive::of(type, 1));
    EXPECT_TRUE(type.committed && type.predefined);
  }
}

}  // namespace
}  // namespace weft::datatype
