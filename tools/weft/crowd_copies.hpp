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

// Of one copy and all processes that it waited for.
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

struct Summary {
  double mean = 0;       // seconds of a copy
  double deviation = 0;  // standard, of the mean
  double slowest = 0;
  double cpu_seconds = 0;  // mean of a copy
  double major_faults = 0;
  std::optional<Pressure> pressure;
};
[[nodiscard]] Summary summary_of(const std::vector<CrowdTurn>& turns);

// The resources that copies fight for, most convincing first, each with its evidence and the remedy; empty: none seen.
[[nodiscard]] std::vector<std::string> contended(const Summary& alone, const Summary& crowd, int copies,
                                                 int processors);

}  // namespace weft::tool
