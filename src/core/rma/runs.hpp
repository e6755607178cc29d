// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The pieces of a target's window that a part of an operation's data belongs to.

#include "core/rma/element.hpp"
#include "core/rma/window.hpp"

namespace weft::core::rma {

struct Pieces {
  static constexpr int most = 64;
  Run runs[most];
  int count = 0;
  int64_t bytes = 0;  // of all
};

// Those from packed byte `position` on: at most `bytes`, and at most `most` of them.
void collect(const Remote& place, int64_t position, int64_t bytes, int most, Pieces& pieces);

// The same of elements with gaps, each a piece of its packed size at the element's beginning. `position` is a multiple
// of that size.
void collect_elements(const Remote& place, const Element& element, int64_t position, int64_t bytes, int most,
                      Pieces& pieces);

// The bytes from the lowest to behind the highest that data touch, from their place on.
struct Span {
  int64_t from;
  int64_t to;
};
[[nodiscard]] Span span_of(const Type& type, int64_t count);

}  // namespace weft::core::rma
