// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The copying itself: blocks of one size between their places in a user's buffer and packed bytes. Nothing is read or
// written beyond the named bytes.

#include <cstdint>
#include <cstring>

#include "base/copy.hpp"

namespace weft::datatype {

enum class Direction { pack, unpack };

// Where blocks lie. A kernel goes through the rows, in each row asks next() for every block, and after it calls
// next_row().
// At equal distances, in rows at equal distances.
struct Strided {
  uintptr_t place;
  int64_t stride;
  int64_t count;  // in a row
  int64_t row_stride;
  int64_t rows;
  uintptr_t row = place;

  char* next() {
    char* at = reinterpret_cast<char*>(place);
    place += static_cast<uintptr_t>(stride);
    return at;
  }
  void next_row() { place = row += static_cast<uintptr_t>(row_stride); }
};

// Blocks at offsets from a place.
struct Listed {
  uintptr_t place;
  const int64_t* offset;
  int64_t count;
  static constexpr int64_t rows = 1;

  char* next() { return reinterpret_cast<char*>(place + static_cast<uintptr_t>(*offset++)); }
  void next_row() {}
};

// Moves blocks of `block` bytes.
template <class Places>
using RowKernel = void (*)(Places places, int64_t block, char* packed);

// Whether this processor has registers of 32 bytes.
[[nodiscard]] bool has_wide_registers();

// The kernel for blocks of this size; `wide`: it may use such registers.
template <Direction direction, class Places>
[[nodiscard]] RowKernel<Places> kernel_for(int64_t block, bool wide);

// The size of a block decides once which loads and stores it takes; the last of them may overlap the one before.
template <Direction direction, class Unit, int units>
inline __attribute__((always_inline)) void move_units(char* at, char* packed, int64_t block) {
  char* to = direction == Direction::pack ? packed : at;
  const char* from = direction == Direction::pack ? at : packed;
  const int64_t last = block - static_cast<int64_t>(sizeof(Unit));
  Unit unit[units];
  if constexpr (units > 1) {
#pragma GCC unroll 8
    for (int k = 0; k < units - 1; ++k) __builtin_memcpy(&unit[k], from + k * sizeof(Unit), sizeof(Unit));
  }
  __builtin_memcpy(&unit[units - 1], from + last, sizeof(Unit));
  if constexpr (units > 1) {
#pragma GCC unroll 8
    for (int k = 0; k < units - 1; ++k) __builtin_memcpy(to + k * sizeof(Unit), &unit[k], sizeof(Unit));
  }
  __builtin_memcpy(to + last, &unit[units - 1], sizeof(Unit));
}

using Vector16 = uint64_t __attribute__((vector_size(16)));

// One block of a size that changes from one to the next.
template <Direction direction>
inline void move(char* at, char* packed, int64_t bytes) {
  if (bytes > 64) {
    const auto size = static_cast<size_t>(bytes);
    direction == Direction::pack ? base::copy(packed, at, size) : base::copy(at, packed, size);
  } else if (bytes > 32) {
    move_units<direction, Vector16, 2>(at, packed, 32);
    move_units<direction, Vector16, 2>(at + bytes - 32, packed + bytes - 32, 32);
  } else if (bytes > 16) {
    move_units<direction, Vector16, 2>(at, packed, bytes);
  } else if (bytes >= 8) {
    move_units<direction, uint64_t, 2>(at, packed, bytes);
  } else if (bytes >= 4) {
    move_units<direction, uint32_t, 2>(at, packed, bytes);
  } else if (bytes >= 2) {
    move_units<direction, uint16_t, 2>(at, packed, bytes);
  } else {
    move_units<direction, uint8_t, 1>(at, packed, 1);
  }
}

}  // namespace weft::datatype
