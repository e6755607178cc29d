// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The paths of messages between two processors of this host, as measured.

#include <cstdint>
#include <string>
#include <vector>

#include "base/message.hpp"

namespace weft::tool {

// One size: microseconds of half a round trip, a number for each round. E1 ends at 128 KiB: empty beyond.
struct PathTimes {
  int64_t bytes = 0;
  std::vector<double> e1, r0, r1;
};

struct PathsMeasured {
  std::vector<double> line_ns;  // of a cache line from one core to the other, a number for each round
  std::vector<PathTimes> sizes;
};

// Reads the output of weft-measure-paths. False: it is none, `wrong` is the line.
[[nodiscard]] bool read_paths(const std::string& output, PathsMeasured& measured, std::string& wrong);

// The largest size up to which E1 is the fastest of all measured ones in medians; 0: none.
[[nodiscard]] int64_t best_eager_limit(const std::vector<PathTimes>& times);

// `weft tune --paths`: measures, prints the table and the settings, or both as JSON. `between`: "A,B", or empty.
[[nodiscard]] bool tune_paths(const std::string& between, bool quick, bool json, base::Problem& problem);

// `weft info --paths --between A,B`: the caches that both processors share, the table, and the ways of large messages.
[[nodiscard]] bool show_between(const std::string& between, bool json, base::Problem& problem);

}  // namespace weft::tool
