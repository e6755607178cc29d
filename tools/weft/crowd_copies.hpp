// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Copies of a program that run at once, the use of resources by each, and the resources that they fight for.

#include <optional>
#include <string>
#include <vector>

#include "base/message.hpp"
#include "weft/commands.hpp"

namespace weft::tool {

// The figures cover one copy and all processes that it waited for.
struct CopyRun {
  double seconds = 0;
  double cpu_seconds = 0;  // user and system
  long major_faults = 0;
  std::string failure;  // empty: it ended with status 0
};

// The share of the time in which some task of this host waited for a resource (/proc/pressure).
struct Pressure {
  double processors = 0;
  double disk = 0;
  double memory = 0;
};

struct CrowdTurn {
  std::vector<CopyRun> copies;
  std::optional<Pressure> pressure;  // none: the kernel does not count it
};

// Starts so many copies at once and waits for all. Their output is dropped but for the last lines of one that fails.
// False: they could not be started; none runs then.
[[nodiscard]] bool run_copies(const Words& words, int copies, CrowdTurn& turn, base::Problem& problem);

// A number that was measured in each turn, and how far the mean is uncertain: its standard error.
struct Estimate {
  double mean = 0;
  double error = 0;
};

struct Summary {
  int turns = 0;
  Estimate seconds;      // of a copy
  double deviation = 0;  // standard, of the copies of all turns, as a part of the mean
  double slowest = 0;
  Estimate cpu_seconds;  // of a copy
  double major_faults = 0;
  struct Waiting {
    Estimate processors, disk, memory;
  };
  std::optional<Waiting> waiting;  // the means of Pressure
};
[[nodiscard]] Summary summary_of(const std::vector<CrowdTurn>& turns);

struct Verdict {
  std::vector<std::string> causes;  // most convincing first, each with its evidence and the remedy
  bool slower = false;              // copies at once take longer than one alone, by more than the noise
  double noise = 0;                 // the least growth of the time that can be told from chance
  bool noisy = false;               // growth that matters is within the noise: nothing can be said
};
// The resources that copies fight for.
[[nodiscard]] Verdict contended(const Summary& alone, const Summary& crowd, int copies, int processors);

}  // namespace weft::tool
