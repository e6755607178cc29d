// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Call sites as statistics name them, "function+0x12 program+0x1234", with the line in the program's source.

#include <string>
#include <vector>

#include "weft/run_statistics.hpp"

namespace weft::tool {

// A text with "function (file.c:12)" in place of the sites of the run's program, where that file is still there and has
// debugging information; otherwise as it is.
[[nodiscard]] std::string with_lines(const std::string& text, const RunStatistics& run);

// The sites that took the most time, the longest first.
[[nodiscard]] std::vector<SiteStatistics> longest_sites(const RunStatistics& run, size_t most);

}  // namespace weft::tool
