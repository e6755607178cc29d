// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Interference on the cores of this host: a loop of fixed work, again and again on all of them at once. A turn that
// takes longer than the fastest one was held up by the system, or by other programs.

#include <cstdint>
#include <vector>

#include "base/message.hpp"

namespace weft::tool {

struct Turn {
  double at;     // seconds since the start
  double takes;  // microseconds
};

struct CoreNoise {
  int processor = 0;  // where it was measured
  std::vector<Turn> turns;
};

// In microseconds, and the share of the time that was lost against turns that are all as fast as the fastest.
struct Quantiles {
  double least = 0, median = 0, p99 = 0, p999 = 0, most = 0;
  double lost = 0;
};

// Turns of about 100 microseconds for so many seconds, on the first of these processors of each core. False: the system
// gives no thread, or does not bind it.
[[nodiscard]] bool measure_cores(const std::vector<int>& processors, double seconds, std::vector<CoreNoise>& cores,
                                 base::Problem& problem);

[[nodiscard]] Quantiles quantiles_of(const CoreNoise& core);

// The share that was lost in each of `columns` equal parts of the time.
[[nodiscard]] std::vector<double> lost_over_time(const CoreNoise& core, double seconds, int columns);

}  // namespace weft::tool
