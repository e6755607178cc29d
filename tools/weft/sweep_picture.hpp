// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The table of `weft sweep` as a picture.

#include <string>
#include <vector>

namespace weft::tool {

struct SweptCase {
  std::string name;
  double median = 0, least = 0, most = 0;
  double share = 0;  // of the best case's speed
  bool ran = false;
};

// SVG: a bar for each case, in their order, with a line from the least to the most, its median and its share of the
// best.
[[nodiscard]] std::string picture_of(const std::string& title, const std::vector<SweptCase>& cases);

}  // namespace weft::tool
