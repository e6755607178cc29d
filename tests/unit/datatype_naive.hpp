// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Random trees of datatypes, each made twice: by the library, and by a naive interpreter that lists the offset of every
// byte and takes the bounds from the definitions of the standard.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "datatype/pack.hpp"
#include "datatype/predefined.hpp"
#include "datatype/signature.hpp"

namespace weft::datatype {

struct Destroy {
  void operator()(Type* type) const { destroy(type); }
};
using Owned = std::unique_ptr<Type, Destroy>;

inline Type predefined(const std::string& name) {
  Type type;
  for (const Predefined& row : predefined_types()) {
    if (row.name == name) build_predefined(row, type);
  }
  EXPECT_EQ(type.name, name);
  return type;
}

// A typemap written out (MPI-5.0, 5.1.1 and 5.1.6).
struct Naive {
  std::vector<int64_t> bytes;  // where each packed byte lies
  std::vector<Basic> basics;   // the items in order
  int64_t lower = 0;
  int64_t upper = 0;
  bool marked = false;
  int64_t alignment = 1;

  struct Part {
    int64_t offset;
    int64_t count;
    const Naive* naive;
  };

  static Naive of(const Type& basic, int64_t alignment) {
    Naive naive;
    const BasicSize size = basic_size(basic.basic);
    for (int64_t i = 0; i < size.first; ++i) naive.bytes.push_back(i);
    for (int64_t i = 0; i < size.second; ++i) naive.bytes.push_back(size.second_offset + i);
    naive.basics = {basic.basic};
    naive.upper = size.extent;
    naive.alignment = alignment;
    return naive;
  }

  [[nodiscard]] int64_t extent() const { return upper - lower; }
  [[nodiscard]] bool is_void() const { return bytes.empty() && !marked; }

  // `alike`: the elements of an array, which ends without padding.
  static Naive of_parts(const std::vector<Part>& parts, bool alike) {
    Naive out;
    int64_t lowest[2] = {INT64_MAX, INT64_MAX};
    int64_t highest[2] = {INT64_MIN, INT64_MIN};
    bool any = false;
    for (const Part& part : parts) {
      if (part.naive->is_void()) continue;
      for (int64_t i = 0; i < part.count; ++i) {
        const int64_t place = part.offset + i * part.naive->extent();
        for (int64_t byte : part.naive->bytes) out.bytes.push_back(place + byte);
        out.basics.insert(out.basics.end(), part.naive->basics.begin(), part.naive->basics.end());
        lowest[part.naive->marked] = std::min(lowest[part.naive->marked], place + part.naive->lower);
        highest[part.naive->marked] = std::max(highest[part.naive->marked], place + part.naive->upper);
        out.marked = out.marked || part.naive->marked;
        if (!part.naive->bytes.empty()) out.alignment = std::max(out.alignment, part.naive->alignment);
        any = true;
      }
    }
    if (!any) return out;
    out.lower = lowest[out.marked];
    out.upper = highest[out.marked];
    while (!alike && !out.marked && out.extent() % out.alignment != 0) ++out.upper;
    return out;
  }

  [[nodiscard]] Naive repeated(int64_t count, int64_t stride) const {
    std::vector<Part> parts;
    for (int64_t i = 0; i < count; ++i) parts.push_back({i * stride, 1, this});
    return of_parts(parts, true);
  }

  [[nodiscard]] Naive vector(int64_t count, int64_t block, int64_t stride) const {
    std::vector<Part> parts;
    for (int64_t i = 0; i < count; ++i) parts.push_back({i * stride, block, this});
    return of_parts(parts, true);
  }

  [[nodiscard]] Naive resized(int64_t low, int64_t high) const {
    Naive out = *this;
    out.lower = low;
    out.upper = high;
    out.marked = true;
    return out;
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

using Random = std::mt19937_64;
inline int64_t pick(Random& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

struct Pair {
  Owned type;
  Naive naive;
};

inline Pair random_basic(Random& random) {
  struct Row {
    const char* name;
    int64_t alignment;
  };
  const Row rows[] = {{"MPI_CHAR", 1},
                      {"MPI_SHORT", alignof(short)},
                      {"MPI_INT", 4},
                      {"MPI_DOUBLE", alignof(double)},
                      {"MPI_LONG_DOUBLE", alignof(long double)},
                      {"MPI_DOUBLE_INT", alignof(double)},
                      {"MPI_SHORT_INT", 4},
                      {"MPI_FLOAT_INT", 4},
                      {"MPI_LONG_DOUBLE_INT", alignof(long double)},
                      {"MPI_BYTE", 1},
                      {"MPI_2INT", 4},
                      {"MPI_C_DOUBLE_COMPLEX", alignof(double)},
                      {"MPI_C_FLOAT_COMPLEX", alignof(float)}};
  const Row& row = rows[pick(random, 0, std::size(rows) - 1)];
  const Type basic = predefined(row.name);
  return {Owned(duplicate(basic)), Naive::of(basic, row.alignment)};
}

// Trees stay below this many bytes, so that the naive lists do.
inline constexpr int64_t naive_bytes = 6000;
inline constexpr int64_t naive_extent = 10000;

inline Pair random_type(Random& random, int depth);

// Parts of one type or of several, at places in order, in disorder or at random.
inline Pair random_structure(Random& random, Pair first) {
  std::vector<Pair> pool;
  pool.push_back(std::move(first));
  const bool alike = pick(random, 0, 1) == 0;
  const int64_t others = alike ? 0 : pick(random, 1, 3);
  for (int64_t i = 0; i < others; ++i) pool.push_back(random_type(random, static_cast<int>(pick(random, 0, 2))));
  std::vector<Part> parts;
  std::vector<Naive::Part> naive_parts;
  const int64_t count = pick(random, 0, random() % 8 == 0 ? 40 : 7);
  const int64_t order = pick(random, 0, 3);
  const int64_t same_count = pick(random, 0, 2) == 0 ? pick(random, 1, 3) : -1;
  int64_t size = 0;
  int64_t place = pick(random, -50, 50);
  const Naive* only = nullptr;
  bool mixed = false;
  for (int64_t i = 0; i < count; ++i) {
    const Pair& pair = pool[static_cast<size_t>(pick(random, 0, static_cast<int64_t>(pool.size()) - 1))];
    const int64_t copies = same_count > 0 ? same_count : pick(random, 0, 3);
    const auto bytes = static_cast<int64_t>(pair.naive.bytes.size()) * copies;
    if (size + bytes > naive_bytes) break;
    size += bytes;
    const int64_t room = std::max<int64_t>(1, std::abs(pair.naive.extent()) * std::max<int64_t>(1, copies));
    parts.push_back({place, copies, pair.type.get()});
    naive_parts.push_back({place, copies, &pair.naive});
    if (copies > 0 && !pair.naive.is_void()) {
      mixed = mixed || (only != nullptr && only != &pair.naive);
      only = &pair.naive;
    }
    switch (order) {
      case 0:  // one after the other
        place += room;
        break;
      case 1:  // with gaps
        place += room + pick(random, 0, 9);
        break;
      case 2:  // in two interleaved rows
        place += i % 2 == 0 ? 5 * room : room;
        break;
      default:
        place = pick(random, -300, 300);
    }
  }
  Pair out;
  out.type.reset(structure(parts.data(), static_cast<int64_t>(parts.size())));
  out.naive = Naive::of_parts(naive_parts, !mixed);
  return out;
}

inline Pair random_subarray(Random& random, const Pair& old) {
  const int dims = static_cast<int>(pick(random, 1, 4));
  const bool fortran = pick(random, 0, 1) == 0;
  int64_t sizes[4];
  int64_t subsizes[4];
  int64_t starts[4];
  int64_t room = naive_bytes / std::max<int64_t>(1, old.type->size);
  for (int i = 0; i < dims; ++i) {
    sizes[i] = std::abs(old.naive.extent()) > 500 ? 1 : pick(random, 1, 4);
    subsizes[i] = std::max<int64_t>(1, std::min(pick(random, 1, sizes[i]), room));
    room /= subsizes[i];
    starts[i] = pick(random, 0, sizes[i] - subsizes[i]);
  }
  std::vector<Naive::Part> parts;
  int64_t index[4] = {};
  const int64_t extent = old.naive.extent();
  while (true) {
    int64_t at = 0;
    for (int i = 0; i < dims; ++i) {
      const int dim = fortran ? dims - 1 - i : i;
      at = at * sizes[dim] + starts[dim] + index[dim];
    }
    parts.push_back({at * extent, 1, &old.naive});
    int i = 0;
    for (; i < dims; ++i) {
      const int dim = fortran ? i : dims - 1 - i;
      if (++index[dim] < subsizes[dim]) break;
      index[dim] = 0;
    }
    if (i == dims) break;
  }
  Pair out;
  int64_t whole = extent;
  for (int i = 0; i < dims; ++i) whole *= sizes[i];
  out.type.reset(subarray(dims, sizes, subsizes, starts, fortran, *old.type));
  out.naive = Naive::of_parts(parts, true).resized(0, whole);
  return out;
}

// A tree of `depth` constructors over a random basic.
inline Pair random_type(Random& random, int depth) {
  Pair out = random_basic(random);
  for (int i = 0; i < depth; ++i) {
    const int64_t room = naive_bytes / std::max<int64_t>(1, out.type->size);
    const auto extent = out.type->extent;
    Type* next = nullptr;
    if (std::abs(extent) > naive_extent || out.naive.true_extent() > naive_extent) break;
    switch (pick(random, 0, 6)) {
      case 0: {
        const int64_t count = std::min(pick(random, random() % 16 == 0 ? 0 : 1, 5), room);
        next = contiguous(count, *out.type);
        out.naive = out.naive.repeated(count, extent);
        break;
      }
      case 1:
      case 2: {
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
      case 3: {
        const int64_t lower = pick(random, 0, 2) == 0 ? pick(random, -20, 20) : out.type->lower_bound;
        const int64_t wide = pick(random, 0, 3) == 0 ? pick(random, -8, 60) : extent + 8;
        next = resized(*out.type, lower, wide);
        out.naive = out.naive.resized(lower, lower + wide);
        break;
      }
      case 4: {
        Pair made = random_structure(random, std::move(out));
        if (!made.type) return made;
        out = std::move(made);
        continue;
      }
      case 5: {
        Pair made = random_subarray(random, out);
        if (!made.type) return made;
        out = std::move(made);
        continue;
      }
      default:
        next = duplicate(*out.type);
    }
    out.type.reset(next);
    if (!next) break;
  }
  return out;
}

// A buffer that holds all that `naive` names, wherever it lies; `origin` is the address that a program would pass.
struct Buffer {
  std::vector<unsigned char> memory;
  int64_t shift;

  Buffer(const Naive& naive, Random& random) : shift(64 - naive.true_lower()) {
    memory.resize(static_cast<size_t>(naive.true_extent() + 128));
    const uint64_t seed = random();
    for (size_t i = 0; i < memory.size(); ++i)
      memory[i] = static_cast<unsigned char>((seed + i) * 0x9e3779b97f4a7c15 >> 56);
  }
  unsigned char* origin() { return memory.data() + shift; }
  unsigned char& operator[](int64_t offset) { return memory[static_cast<size_t>(offset + shift)]; }
};

}  // namespace weft::datatype
