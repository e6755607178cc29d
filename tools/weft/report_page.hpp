// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "weft/gain.hpp"
#include "weft/run_statistics.hpp"

namespace weft::tool {

// A page in HTML that needs nothing else, neither other files nor a network: of one run, or of two in comparison. Ranks
// are put together where there are many, so that a run stays below a megabyte.
[[nodiscard]] std::string page_of(std::span<const RunStatistics> runs, const Machine& machine);

// Seconds of a rank in two runs, on average: of the run, in MPI, in calls.
struct Change {
  std::string name;
  double before = 0;
  double after = 0;
};
[[nodiscard]] std::vector<Change> compare(const RunStatistics& before, const RunStatistics& after);

// Its part about phases; nothing where the file has none.
void add_timeline(std::string& page, const RunStatistics& run);

// Its part about ranks on hosts and cores; nothing where the file does not tell them.
void add_machine(std::string& page, const RunStatistics& run);

}  // namespace weft::tool
