// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Divides ranks into parts of exact sizes, so that few bytes go between parts: the parts are halved, METIS cuts the
// graph in two, and single ranks are moved until the halves have their sizes; then each half likewise. Parts that are
// next to each other in number are near each other in the graph.

#include <vector>

#include "weft/traffic.hpp"

namespace weft::tool {

// METIS is found when Weft is built, or it is not.
[[nodiscard]] bool can_partition();

// `sizes` of the parts, together as many as `ranks` (different ones). Returns the ranks part by part, in rising order
// in each; empty when METIS refuses, for lack of memory.
[[nodiscard]] std::vector<int32_t> partition(const Traffic& traffic, std::vector<int32_t> ranks,
                                             const std::vector<int32_t>& sizes);

}  // namespace weft::tool
