// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Small blocks close to each other, as in an array of structs or in every second double: 64 bytes of the buffer at a
// time go through a register that squeezes the gaps out, or opens them, by a mask. Needs AVX-512 VBMI2. Only bytes of
// blocks are read and written, so nothing outside can fault or change.

#include <cstdint>

#include "datatype/blocks.hpp"
#include "datatype/rows.hpp"

namespace weft::datatype {

// A pattern of blocks that repeats at equal distances, as masks of consecutive windows of 64 bytes.
struct Windows {
  static constexpr int most = 4;

  int64_t turns = 0;   // of the pattern in one pass over the windows; 0: the pattern does not suit
  int count = 0;       // of windows
  int64_t stride = 0;  // of one turn
  int64_t bytes = 0;   // of data in one turn
  uint64_t mask[most] = {};

  // Blocks of `block` bytes, `stride` apart.
  static Windows of_row(int64_t block, int64_t stride);
  // A list of contiguous blocks.
  static Windows of_list(const BlockTable& blocks, int64_t stride);
};

// Moves `count` turns of the pattern from `place` on.
template <Direction direction>
void move_windows(const Windows& windows, uintptr_t place, int64_t count, char* packed);

// Moves blocks [from, to) of a list of contiguous blocks of unequal size.
template <Direction direction>
void move_list(uintptr_t place, const BlockTable& blocks, int64_t from, int64_t to, char* packed);

}  // namespace weft::datatype
