// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The statistics of a run, as WEFT_STATS_FILE has them, as far as `weft report` shows them. Members that a file does
// not have stay empty.

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/message.hpp"
#include "weft/traffic.hpp"

namespace weft::tool {

// It sums up a value that each rank has.
struct Spread {
  double sum = 0, mean = 0, deviation = 0, least = 0, most = 0;
  int64_t least_rank = 0, most_rank = 0;
};

struct CallStatistics {
  std::string call;
  int64_t calls = 0;
  int64_t bytes = 0;
  Spread seconds;
  Spread waiting;
  std::vector<std::pair<int64_t, int64_t>> sizes;  // a power of two, or 0, and the calls of that size up to the next
};

struct RankStatistics {
  int64_t rank = 0;
  int64_t host = 0;  // the first rank on it
  double seconds = 0, mpi = 0, waiting = 0;
  std::string processors;  // that it was bound to, as a list; empty: not known
};

struct SiteStatistics {
  std::string call, site;
  int64_t calls = 0, bytes = 0;
  double seconds = 0, waiting = 0;
};

// Hosts that are alike, by the first ranks on them.
struct MachineStatistics {
  std::string cores;  // stats/machine.hpp
  std::vector<int64_t> hosts;
};

struct CommStatistics {
  int64_t size = 0;
  double seconds = 0;
};

// Ranks that follow each other: in each slice of the run the shares of the program, of calls between two ranks, of
// collective ones, of others, and of waiting, in thousandths.
inline constexpr size_t timeline_parts = 5;
struct TimelineGroup {
  int64_t first = 0;
  int64_t ranks = 0;
  std::vector<std::array<double, timeline_parts>> slices;
};

struct RunStatistics {
  std::string path;
  std::string program;  // the path of the file; empty: not known
  std::string end;      // the reason why the run ended
  int64_t ranks = 0;
  int64_t crowded = 0;  // ranks on hosts with less processors than ranks
  Spread run, mpi, waiting;
  std::vector<std::string> advice;
  std::vector<CallStatistics> calls;
  std::vector<RankStatistics> by_rank;
  std::vector<SiteStatistics> sites;
  std::vector<MachineStatistics> machines;
  double joules = 0, joules_in_mpi = 0, joules_waiting_awake = 0;
  std::string energy_unknown;  // why
  double timeline_seconds = 0;
  std::vector<TimelineGroup> timeline;
  std::vector<CommStatistics> communicators;
  bool has_settings = false;
  std::vector<std::pair<std::string, std::string>> settings;  // that differ from their defaults
  bool has_matrix = false;
  Traffic traffic;
};

[[nodiscard]] bool parse_statistics(std::string_view text, const std::string& name, RunStatistics& run,
                                    base::Problem& problem);
[[nodiscard]] bool read_statistics(const std::string& path, RunStatistics& run, base::Problem& problem);

}  // namespace weft::tool
