// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Layouts, packing and copying against a naive interpreter that lists the offset of every byte.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "datatype/pack.hpp"
#include "datatype/predefined.hpp"

namespace weft::datatype {
namespace {

struct Destroy {
  void operator()(Type* type) const { destroy(type); }
};
using Owned = std::unique_ptr<Type, Destroy>;

Type predefined(const std::string& name) {
  Type type;
  for (const Predefined& row : predefined_types()) {
    if (row.name == name) build_predefined(row, type);
  }
  EXPECT_EQ(type.name, name);
  return type;
}

// A typemap written out: where each packed byte lies, and the bounds by the definition of the standard (5.1.6).
struct Naive {
  std::vector<int64_t> bytes;
  int64_t lower = 0;
  int64_t upper = 0;

  static Naive of(const Type& basic) {
    Naive naive;
    const BasicSize size = basic_size(basic.basic);
    for (int64_t i = 0; i < size.first; ++i) naive.bytes.push_back(i);
    for (int64_t i = 0; i < size.second; ++i) naive.bytes.push_back(size.second_offset + i);
    naive.upper = size.extent;
    return naive;
  }

  [[nodiscard]] Naive at(const std::vector<int64_t>& places) const {
    Naive out;
    if (places.empty() || (bytes.empty() && lower == upper)) return out;
    out.lower = INT64_MAX;
    out.upper = INT64_MIN;
    for (int64_t place : places) {
      for (int64_t byte : bytes) out.bytes.push_back(place + byte);
      out.lower = std::min(out.lower, place + lower);
      out.upper = std::max(out.upper, place + upper);
    }
    return out;
  }

  [[nodiscard]] Naive repeated(int64_t count, int64_t stride) const {
    std::vector<int64_t> places;
    for (int64_t i = 0; i < count; ++i) places.push_back(i * stride);
    return at(places);
  }

  [[nodiscard]] Naive vector(int64_t count, int64_t block, int64_t stride) const {
    std::vector<int64_t> places;
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t j = 0; j < block; ++j) places.push_back(i * stride + j * (upper - lower));
    }
    return at(places);
  }

  [[nodiscard]] int64_t true_lower() const { return bytes.empty() ? 0 : *std::min_element(bytes.begin(), bytes.end()); }
  [[nodiscard]] int64_t true_extent() const {
    return bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end()) + 1 - true_lower();
  }
  [[nodiscard]] bool overlaps() const {
    std::vector<int64_t> sorted = bytes;
    std::sort(sorted.begin(), sorted.end());
    return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
  }
};

struct Pair {
  Owned type;
  Naive naive;
};

using Random = std::mt19937_64;
int64_t pick(Random& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

// A tree of `depth` constructors over a random basic. Sizes stay small so that the naive list does.
Pair random_type(Random& random, int depth) {
  const char* basics[] = {"MPI_CHAR",      "MPI_SHORT",       "MPI_INT",
                          "MPI_DOUBLE",    "MPI_LONG_DOUBLE", "MPI_DOUBLE_INT",
                          "MPI_SHORT_INT", "MPI_FLOAT_INT",   "MPI_LONG_DOUBLE_INT",
                          "MPI_BYTE",      "MPI_2INT",        "MPI_C_DOUBLE_COMPLEX"};
  const Type basic = predefined(basics[pick(random, 0, std::size(basics) - 1)]);
  Pair out{Owned(duplicate(basic)), Naive::of(basic)};
  for (int i = 0; i < depth; ++i) {
    const int64_t room = 6000 / std::max<int64_t>(1, out.type->size);
    const auto extent = out.type->extent;
    Type* next = nullptr;
    switch (pick(random, 0, 3)) {
      case 0: {
        const int64_t count = std::min(pick(random, random() % 16 == 0 ? 0 : 1, 5), room);
        next = contiguous(count, *out.type);
        out.naive = out.naive.repeated(count, extent);
        break;
      }
      case 1: {
        const int64_t count = std::min(pick(random, random() % 32 == 0 ? 0 : 1, 4), room);
        const int64_t block = std::min(pick(random, random() % 32 == 0 ? 0 : 1, 3), room / std::max<int64_t>(1, count));
        const int64_t strides[] = {extent * block, extent * (block + 1), -extent * block,
                                   extent * 5,     extent * block + 3,   0,
                                   -extent * 4,    extent * (block + 2)};
        const int64_t stride = strides[pick(random, 0, 7)];
        next = vector(count, block, stride, *out.type);
        out.naive = out.naive.vector(count, block, stride);
        break;
      }
      case 2: {
        const int64_t lower = pick(random, 0, 2) == 0 ? pick(random, -20, 20) : out.type->lower_bound;
        const int64_t wide = pick(random, 0, 3) == 0 ? pick(random, -8, 60) : extent + 8;
        next = resized(*out.type, lower, wide);
        out.naive.lower = lower;
        out.naive.upper = lower + wide;
        break;
      }
      default:
        next = duplicate(*out.type);
    }
    out.type.reset(next);
    if (!next) break;
  }
  return out;
}

// A buffer with room for all that `naive` names, wherever it lies; `origin` is what a program would pass.
struct Buffer {
  std::vector<unsigned char> memory;
  int64_t shift;

  Buffer(const Naive& naive, Random& random) : shift(64 - naive.true_lower()) {
    memory.resize(static_cast<size_t>(naive.true_extent() + 128));
    for (auto& byte : memory) byte = static_cast<unsigned char>(random());
  }
  unsigned char* origin() { return memory.data() + shift; }
  unsigned char& operator[](int64_t offset) { return memory[static_cast<size_t>(offset + shift)]; }
};

// Cuts [0, bytes) at random places.
std::vector<int64_t> random_cuts(Random& random, int64_t bytes) {
  std::vector<int64_t> cuts = {0, bytes};
  for (int64_t i = pick(random, 0, 6); i > 0; --i) cuts.push_back(pick(random, 0, bytes));
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

void expect_bounds(const Type& type, const Naive& naive) {
  EXPECT_EQ(type.size, static_cast<int64_t>(naive.bytes.size()));
  EXPECT_EQ(type.lower_bound, naive.lower);
  EXPECT_EQ(type.extent, naive.upper - naive.lower);
  EXPECT_EQ(type.true_lower_bound, naive.true_lower());
  EXPECT_EQ(type.true_extent, naive.true_extent());
}

TEST(DatatypeLayout, RandomTreesHaveTheBoundsOfTheStandard) {
  Random random(1);
  int with_pieces = 0;
  for (int round = 0; round < 2000; ++round) {
    SCOPED_TRACE(round);
    Pair pair = random_type(random, static_cast<int>(pick(random, 0, 24)));
    ASSERT_TRUE(pair.type);
    expect_bounds(*pair.type, pair.naive);
    if (HasFailure()) return;
    with_pieces += pair.type->pieces != nullptr;

    // `contiguous` is exactly: several elements are the bytes from the buffer's address on.
    const Naive three = pair.naive.repeated(3, pair.type->extent);
    bool gapless = pair.type->lower_bound == 0 && pair.type->extent == pair.type->size;
    for (size_t i = 0; i < three.bytes.size(); ++i) gapless = gapless && three.bytes[i] == static_cast<int64_t>(i);
    EXPECT_EQ(pair.type->contiguous, gapless);
  }
  EXPECT_GT(with_pieces, 50);
}

TEST(DatatypePack, AnyPartOfAnyTreePacksAndUnpacks) {
  Random random(2);
  int unpacked = 0;
  for (int round = 0; round < 2000; ++round) {
    SCOPED_TRACE(round);
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
  EXPECT_GT(unpacked, 500);
}

TEST(DatatypePack, CopyGoesBetweenUnlikeLayouts) {
  Random random(3);
  int copied = 0;
  for (int round = 0; round < 2000; ++round) {
    SCOPED_TRACE(round);
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
  EXPECT_GT(copied, 20) << "the staged copy was not made to take several steps";
}

TEST(DatatypeLayout, LoopsMergeIntoTheFewestPossible) {
  const Type integer = predefined("MPI_INT");
  const Owned row(contiguous(10, integer));
  EXPECT_TRUE(row->contiguous);
  EXPECT_EQ(row->loops, 0);
  const Owned same(vector(6, 5, 5 * 4, integer));
  EXPECT_TRUE(same->contiguous);
  EXPECT_EQ(same->block, 120);
  const Owned column(vector(10, 1, 40, integer));
  EXPECT_EQ(column->loops, 1);
  EXPECT_EQ(column->block, 4);
  EXPECT_EQ(column->extent, 9 * 40 + 4);
  const Owned next(resized(*column, 0, 400));
  const Owned columns(contiguous(7, *next));
  EXPECT_EQ(columns->loops, 1) << "one loop goes on where the other ended";
  EXPECT_EQ(columns->loop[0].count, 70);
  EXPECT_EQ(columns->basic_count, 70);
  EXPECT_EQ(columns->basic, Basic::int32);
}

TEST(DatatypeLayout, DeepNestsFallBackToPieces) {
  Owned type(duplicate(predefined("MPI_CHAR")));
  for (int level = 0; level < max_loops + 3; ++level) type.reset(vector(2, 1, 2 * type->extent + 1, *type));
  EXPECT_EQ(type->loops, max_loops);
  EXPECT_EQ(type->piece_count, 8);
  EXPECT_EQ(type->size, 1 << (max_loops + 3));
  const Owned again(duplicate(*type));
  EXPECT_NE(again->pieces, type->pieces) << "each type frees its own";
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

TEST(DatatypePack, AbsoluteAddressesWorkFromANullBuffer) {
  int32_t value[3] = {1, 2, 3};
  Type absolute = predefined("MPI_INT");  // as an indexed type on MPI_BOTTOM will be
  absolute.first = reinterpret_cast<intptr_t>(value);
  absolute.contiguous = false;
  int32_t out[3] = {};
  pack(absolute, 3, nullptr, 0, out, sizeof out);
  EXPECT_EQ(out[0] + 10 * out[1] + 100 * out[2], 321);
}

TEST(DatatypeLayout, DataAwayFromTheBufferIsNotContiguous) {
  Type shifted = predefined("MPI_INT");  // as an indexed type with one block will be
  shifted.first = shifted.true_lower_bound = 4;
  const Owned type(resized(shifted, 0, 4));
  EXPECT_FALSE(type->contiguous);
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
    expect_bounds(type, Naive::of(type));
    EXPECT_TRUE(type.committed && type.predefined);
  }
}

}  // namespace
}  // namespace weft::datatype
