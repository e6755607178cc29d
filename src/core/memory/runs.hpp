// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The pieces of a region that a part of an operation's data belongs to.

#include "core/memory/element.hpp"
#include "core/memory/region.hpp"

namespace weft::core::memory {

using Run = transport::MemoryPiece;
static_assert(sizeof(Run) == 16);

struct Pieces {
  static constexpr int most = 64;
  Run runs[most];
  int count = 0;
  int64_t bytes = 0;  // of all
};

// Collects the pieces from packed byte `position` on: at most `bytes`, and at most `most` pieces.
void collect(const RegionData& place, int64_t position, int64_t bytes, int most, Pieces& pieces);

// Collects elements with gaps, each as a piece of its packed size at the element's beginning. `position` is a multiple
// of that size.
void collect_elements(const RegionData& place, const Element& element, int64_t position, int64_t bytes, int most,
                      Pieces& pieces);

// The bytes from the lowest to behind the highest that data touch, from their place on.
struct DataSpan {
  int64_t from;
  int64_t to;
};
[[nodiscard]] DataSpan span_of(const datatype::Type& type, int64_t count);

}  // namespace weft::core::memory
