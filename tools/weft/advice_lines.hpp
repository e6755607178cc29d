// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "weft/gain.hpp"
#include "weft/run_statistics.hpp"

namespace weft::tool {

// All advice about a run: that in its file, another order of its ranks, other algorithms of its collective operations.
// Control characters of the file are replaced.
[[nodiscard]] std::vector<std::string> advice_lines(const RunStatistics& run, const Machine& machine);

}  // namespace weft::tool
