// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The gain of another algorithm of a collective operation in a run: from times that `weft tune` measured for such a
// job, or else simulated with the run's ranks, hosts and sizes.

#include <string>
#include <utility>
#include <vector>

#include "coll/select/select.hpp"
#include "weft/model.hpp"
#include "weft/run_statistics.hpp"

namespace weft::tool {

// The medians of one size in a file of `weft tune`.
struct MeasuredTimes {
  coll::Collective collective = coll::Collective::barrier;
  int64_t ranks = 0;
  int64_t hosts = 0;                                   // 0: the file does not say
  int64_t bytes = 0;                                   // as the table of algorithms has them
  std::vector<std::pair<coll::Algorithm, double>> us;  // of a call
};

// The machine of the run, as far as it is known.
struct Machine {
  Model model;
  bool has_model = false;  // measured; otherwise the default numbers
  std::vector<MeasuredTimes> times;
};

// Reads a file that `weft tune` wrote; either part may be missing, not both.
[[nodiscard]] bool read_machine(const std::string& path, Machine& machine, base::Problem& problem);

// A line for each collective operation that took much of the run's time, the longest first: its time, and the algorithm
// that would take less with its part of the time, or that none would, or why that cannot be known. Sets the settings
// of this process that choose algorithms to those of the run.
[[nodiscard]] std::vector<std::string> algorithm_advice(const RunStatistics& run, const Machine& machine);

}  // namespace weft::tool
