// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The common part of the constructors of layouts.

#include "datatype/blocks.hpp"
#include "datatype/signature.hpp"
#include "datatype/type.hpp"

namespace weft::datatype {

[[nodiscard]] inline bool multiply(int64_t a, int64_t b, int64_t& out) {
  return !__builtin_mul_overflow(a, b, &out);
}
[[nodiscard]] inline bool add(int64_t a, int64_t b, int64_t& out) {
  return !__builtin_add_overflow(a, b, &out);
}

// No data and no bounds of its own: such elements take no part in a layout.
[[nodiscard]] inline bool is_void(const Type& type) {
  return type.size == 0 && !type.marked;
}

// Widens the bounds to those of `count` copies, `stride` apart; false: beyond 64 bits.
[[nodiscard]] inline bool widen(int64_t& lower, int64_t& extent, int64_t count, int64_t stride) {
  int64_t span = 0;
  if (!multiply(count - 1, stride, span)) return false;
  if (span >= 0) return add(extent, span, extent);
  return add(lower, span, lower) && !__builtin_sub_overflow(extent, span, &extent);
}

// A layout under construction: a Type by value that holds the objects it refers to.
struct Layout {
  Type type;

  // Nothing: size and extent 0.
  Layout() { type.kind = base::Kind::datatype; }
  explicit Layout(const Type& old);
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  ~Layout();

  // `count` copies, `stride` bytes apart, count at least 1.
  [[nodiscard]] bool repeat(int64_t count, int64_t stride);

  // The object, which takes the holds along; nullptr: no memory.
  [[nodiscard]] Type* finish();
};

}  // namespace weft::datatype
