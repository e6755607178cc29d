// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Finds the Cartesian grid in which a run's ranks talk to their neighbours, when ranks are numbered along it.
//
// Along a dimension of `side` ranks that are `stride` apart, rank r talks to rank r + stride unless its coordinate,
// r / stride % side, is the last. So each dimension shows as a difference of ranks that about all of them have, and the
// ranks where it is missing tell the side. Differences are taken by their bytes, the largest first, as long as they fit
// together: stride times side of one divides the stride of the next. A gap between the two is a dimension without
// messages. Trees of collective operations have such differences too; those that carry no more than others that fit
// nowhere are left out.

#include <vector>

#include "weft/traffic.hpp"

namespace weft::tool {

struct Dimension {
  int32_t side = 1;
  bool periodic = false;
  bool silent = false;  // its neighbours exchange nothing: the grid falls into parts
  double weight = 0;    // bytes between two neighbours, on average
};

struct FoundGrid {
  std::vector<Dimension> dimensions;  // the last one changes fastest with the rank; none: there is no grid
  double neighbours = 0;              // share of all bytes that goes to neighbours along one dimension
  double diagonal = 0;                // along several
};

[[nodiscard]] FoundGrid find_grid(const Traffic& traffic);

}  // namespace weft::tool
