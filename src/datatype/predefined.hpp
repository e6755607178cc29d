// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The predefined datatypes of the standard ABI by name, without their handles: sizes as in C and Fortran on x86-64
// Linux, also for Fortran kinds that a compiler may lack.

#include <span>

#include "datatype/type.hpp"

namespace weft::datatype {

struct Predefined {
  const char* name;  // as in mpi.h, without aliases
  Basic basic;
  int64_t size;
  int64_t extent;  // also a multiple of the alignment
};

// Bytes of a basic: pairs are two basic elements, all others one and `second` is 0.
struct BasicSize {
  int8_t first;
  int8_t second;
  int8_t second_offset;
  int8_t extent;
};

[[nodiscard]] BasicSize basic_size(Basic basic);

// The C struct of two basics that are no pairs themselves: each at its alignment, the whole a multiple of the larger.
[[nodiscard]] BasicSize pair_size(Basic first, Basic second);

// All of them, in the order of their handles.
[[nodiscard]] std::span<const Predefined> predefined_types();

// Makes `out` the committed type of this row. Its blocks, if any, are static.
void build_predefined(const Predefined& row, Type& out);

}  // namespace weft::datatype
