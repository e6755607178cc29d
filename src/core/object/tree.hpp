// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The binomial tree of all patterns among `size` places.

#include <cstdint>

namespace weft::core {

// Places are turned so that the root's is 0. Then a place stands below the one without its lowest bit, and above those
// with one more bit below that.
struct TreePlace {
  int32_t above;  // -1 at the root
  int32_t below;  // how many stand right below: 1, 2, 4, ... places behind, the last with the largest subtree
};

[[nodiscard]] inline TreePlace tree_place(int32_t place, int32_t size, int32_t root) {
  const auto all = static_cast<uint32_t>(size);
  const uint32_t turned = (static_cast<uint32_t>(place) + all - static_cast<uint32_t>(root)) % all;
  TreePlace tree{-1, 0};
  if (turned != 0) tree.above = static_cast<int32_t>(((turned & (turned - 1)) + static_cast<uint32_t>(root)) % all);
  for (uint32_t bit = 1; (turned & bit) == 0 && turned + bit < all; bit *= 2) ++tree.below;
  return tree;
}

}  // namespace weft::core
