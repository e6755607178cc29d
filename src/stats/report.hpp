// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The numbers of many ranks together: of one rank from its area, of more by adding reports, which travel as bytes
// between the ranks of a job. Its size has a bound however many ranks there are: lists keep their heaviest entries and
// count the others.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stats/area.hpp"

namespace weft::stats {

// Lengths of the lists.
inline constexpr int32_t most_rank_sums = 16384;
inline constexpr size_t most_threads = 1024;
inline constexpr size_t most_machines = 8;
inline constexpr size_t most_hosts = 4096;
inline constexpr size_t most_pairs = size_t{1} << 18;
inline constexpr size_t most_comms = 256;
inline constexpr size_t most_sites = 2048;

// A number of each rank: its sum and its extremes.
struct Spread {
  int64_t ranks = 0;
  double sum = 0;
  double squares = 0;
  double least = 0;
  double most = 0;
  int32_t least_rank = -1;
  int32_t most_rank = -1;

  void take(double value, int32_t rank);
  void take(const Spread& other);
  [[nodiscard]] double mean() const { return ranks == 0 ? 0 : sum / static_cast<double>(ranks); }
  [[nodiscard]] double deviation() const;
};

struct CallSum {
  uint64_t calls = 0;
  uint64_t bytes = 0;
  uint64_t sizes[size_classes] = {};
  double longest = 0;  // seconds of one call
  double asleep = 0;   // seconds of all ranks
  uint64_t turns = 0;  // calls at once after such a one whose root is the rank before
  int32_t longest_rank = -1;
  int32_t reserved = 0;
  Spread seconds;
  Spread idle;
  Spread prompt;  // share of the calls that hardly waited, of ranks that made any
};

// One rank, in seconds.
struct RankSum {
  int32_t rank = 0;
  int32_t host = 0;
  int32_t in_call = -1;  // a Call that it is in, -1: none
  uint32_t threads = 0;
  double run = 0;
  double mpi = 0;
  double idle = 0;
  double sync = 0;  // waiting in collective operations
  double in_call_for = 0;
  double cpu = 0;     // processor time, where energy is asked for
  double joules = 0;  // of the host, of the rank that reads its counters
  char cpus[64] = "";
};

// A thread of a rank that has several, or threads that followed each other in its place.
struct ThreadSum {
  int32_t rank = 0;
  int32_t place = 0;  // own_blocks: all those for which there was none
  uint32_t threads = 0;
  uint32_t reserved = 0;
  uint64_t calls = 0;
  double seconds = 0;
  double idle = 0;
};

// The cores of a host (stats/machine.hpp), and the hosts that have such.
struct MachineSum {
  uint64_t key = 0;
  char text[3048] = "";
};
struct HostSum {
  int32_t host = 0;  // the first rank on it
  int32_t reserved = 0;
  uint64_t machine = 0;  // a key
};

struct PairSum {
  int32_t from = 0;
  int32_t to = 0;
  uint64_t messages = 0;
  uint64_t bytes = 0;
  double idle = 0;        // seconds that `from` waited for messages of `to` alone
  double idle_sends = 0;  // and for its receives
};

struct CommSum {
  uint64_t key = 0;
  int32_t size = 0;
  int32_t ranks = 0;
  char name[64] = "";
  uint64_t calls = 0;
  uint64_t bytes = 0;
  double seconds = 0;
  double idle = 0;
};

struct SiteSum {
  char text[208] = "";
  uint32_t call = 0;
  uint32_t ranks = 0;
  uint64_t calls = 0;
  uint64_t bytes = 0;
  double seconds = 0;
  double idle = 0;
};

struct Totals {
  uint32_t level = 0;
  int32_t size = 0;        // of the job
  int32_t processors = 0;  // the least that a rank may use
  int32_t crowded = 0;     // ranks on hosts with less processors than ranks
  uint64_t path_messages[4] = {};
  uint64_t path_bytes[4] = {};
  uint64_t device_copies[4] = {};  // mapped, packed, stood in, straight (device/api/traffic.hpp)
  uint64_t device_bytes[4] = {};
  uint64_t unexpected = 0;
  uint64_t retries = 0;
  uint64_t sleeps = 0;
  uint64_t lost = 0;  // entries that did not fit into lists
  double asleep = 0;  // seconds
  double queued = 0;  // that ranks were ready to run and had no processor
  double cpu = 0;
  double joules = 0;
  int32_t energy_hosts = 0;    // that have counters
  int32_t energy_unknown = 0;  // that have none, or hide them
  int32_t energy_error = 0;    // of one of these
  int32_t reserved = 0;
  char energy_subject[100] = "";
  char program[256] = "";  // of one of the ranks
  Spread run;
  Spread mpi;    // seconds
  Spread share;  // of the run in calls
  Spread idle;   // seconds
  Spread sync;
  Spread outside;    // seconds outside calls
  Spread computing;  // of these, with a processor, as far as can be told
};

struct Report {
  Totals all;
  std::vector<CallSum> calls = std::vector<CallSum>(call_count);
  std::vector<RankSum> ranks;
  std::vector<PairSum> pairs;
  std::vector<CommSum> comms;
  std::vector<SiteSum> sites;
  std::vector<ThreadSum> threads;
  std::vector<MachineSum> machines;
  std::vector<HostSum> hosts;
  std::vector<GroupSlices> timeline;  // of some groups, in any order

  // That differ from their defaults, of the rank that writes the report; they do not travel.
  using Settings = std::vector<std::pair<std::string, std::string>>;
  std::optional<Settings> settings;

  // The report of one area as it is now, by the clocks of this host.
  static Report of(const Area& area);
  void add(const Report& other);

  [[nodiscard]] std::string bytes() const;
  // False: these are no bytes of a report.
  [[nodiscard]] bool read(std::string_view bytes);
};

// Whether WEFT_ENERGY asked for it; whether all hosts told.
[[nodiscard]] inline bool asks_energy(const Totals& all) {
  return all.energy_hosts + all.energy_unknown > 0;
}
[[nodiscard]] inline bool knows_energy(const Totals& all) {
  return all.energy_hosts > 0 && all.energy_unknown == 0 && all.cpu > 0;
}
// Returns the energy of so many seconds in which threads were awake, as a part of all such seconds: a thread that is
// awake may have to wait for a processor, and a program may have threads that call no MPI.
[[nodiscard]] inline double joules_of(const Totals& all, double seconds) {
  const double awake = std::max(all.cpu, all.run.sum - all.asleep);
  return knows_energy(all) ? all.joules * std::clamp(seconds / awake, 0.0, 1.0) : 0;
}
// The listed ranks in their order, `joules` being a part of the host's, by the processor time of the host's ranks.
// Where the list does not have all ranks, it is a part of the job's.
[[nodiscard]] std::vector<RankSum> ranks_in_order(const Report& report);
// Whether this rank of a job of so many is listed: all of them are where they fit into the list, otherwise some,
// evenly.
[[nodiscard]] constexpr bool is_listed(int32_t rank, int32_t ranks) {
  return ranks <= most_rank_sums || rank % ((ranks + most_rank_sums - 1) / most_rank_sums) == 0;
}
// Seconds that all ranks waited in calls of a kind: in sends for late receivers, in receives for late senders, in
// collective operations for late arrivals, and for either side in completions.
inline constexpr int kind_count = 7;
inline constexpr const char* kind_names[kind_count] = {"send",      "receive", "completion", "collective",
                                                       "one-sided", "file",    "other"};
[[nodiscard]] double waiting_in(const Report& report, CallKind kind);
// By rank, and of a rank as they came.
[[nodiscard]] std::vector<ThreadSum> threads_in_order(const Report& report);
// Why it is not known, with a remedy.
[[nodiscard]] std::string energy_problem(const Totals& all);

}  // namespace weft::stats
