// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The gain of another order of ranks in a run on several hosts.

#include <string>

#include "weft/run_statistics.hpp"

namespace weft::tool {

// One line: how many of the bytes between ranks stay on hosts, and how many would with the best order; empty: that is
// not many more, or the file does not tell the messages, or where the ranks were.
[[nodiscard]] std::string placement_advice(const RunStatistics& run);

}  // namespace weft::tool
