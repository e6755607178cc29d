// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/statistics.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/clock.hpp"
#include "base/message.hpp"
#include "base/setting.hpp"
#include "coll/coll.hpp"
#include "io/numbers.hpp"
#include "io/phases.hpp"

namespace weft::io {
namespace {

constexpr base::AliasWord cray_words[] = {{"2", "on"}};  // of each rank too
constinit base::BoolSetting wanted{{.name = "WEFT_IO_STATS",
                                    .help = "report the accesses of each file when it is closed, and what to change",
                                    .level = base::SettingLevel::basic,
                                    .alias = "MPICH_MPIIO_STATS",
                                    .alike = true,
                                    .alias_words = cray_words},
                                   false};
WEFT_SETTING(wanted);

constinit base::TextSetting json_path{
    {.name = "WEFT_IO_STATS_FILE", .help = "with WEFT_IO_STATS: a file that gets each report as a line of JSON"}};
WEFT_SETTING(json_path);

void append_json(const FileReport& report) {
  const char* path = json_path.value();
  if (*path == '\0') return;
  FILE* file = fopen(path, "ae");
  const std::string line = as_json(report) + "\n";
  const bool written = file != nullptr && fwrite(line.data(), 1, line.size(), file) == line.size();
  if (const bool closed = file != nullptr && fclose(file) == 0; written && closed) return;
  base::warn({.cause = "cannot write the statistics of " + base::quoted(report.path) + " to " + base::quoted(path),
              .error = errno,
              .remedy = "give WEFT_IO_STATS_FILE a file that rank 0 may write"});
}

// The smallest and the largest numbers of all ranks. A reduction finds minima, so largest numbers are negated.
struct Extremes {
  int64_t disk_ns;      // negated
  int64_t exchange_ns;  // negated
  struct RangeExtremes {
    int64_t low;
    int64_t high;    // negated
    int64_t stride;  // negated
  } reach[2];
};
constexpr int extreme_numbers = sizeof(Extremes) / sizeof(int64_t);

struct Sums {
  Tally::Numbers numbers;
  int64_t spans[2];
};
constexpr int sum_numbers = sizeof(Sums) / sizeof(int64_t);

}  // namespace

void begin_statistics(File& file) {
  if (!wanted.value()) {
    if (*json_path.value() != '\0') {
      base::warn_for_job("WEFT_IO_STATS_FILE",
                         {.cause = "WEFT_IO_STATS_FILE has no effect: there are no statistics of files",
                          .remedy = "set WEFT_IO_STATS=1 too"});
    }
    return;
  }
  file.tally = std::make_unique<Tally>();
  file.tally->opened(base::now_ns());
}

void report_collectively(File& file) {
  if (file.tally == nullptr) return;
  const Tally& tally = *file.tally;
  const uint64_t open_ns = base::now_ns() - tally.opened_ns();
  Sums ours{tally.numbers(), {}};
  Extremes least{};
  least.disk_ns = -(ours.numbers.reads.disk_ns + ours.numbers.writes.disk_ns);
  least.exchange_ns = -ours.numbers.exchange_ns;
  for (const int side : {0, 1}) {
    const Tally::FileRange& reach = tally.reach(side == 1);
    least.reach[side] = {reach.low, -reach.high, -reach.stride};
    ours.spans[side] = reach.low < reach.high ? reach.high - reach.low : 0;
  }
  Sums sums{};
  Extremes extremes{};
  core::Comm& comm = *file.comm;
  // Statistics that cannot be gathered are no failure of the file.
  if (coll::allreduce(comm, &ours, &sums, sum_numbers, sum_of_numbers()) != core::no_error) return;
  if (coll::allreduce(comm, &least, &extremes, extreme_numbers, smaller_number()) != core::no_error) return;
  if (comm.rank != 0) return;
  FileReport report{.path = file.path,
                    .ranks = comm.size,
                    .seconds = static_cast<double>(open_ns) * 1e-9,
                    .hints = file.hints,
                    .exchanged_below = file.exchanged_below(),
                    .all = sums.numbers,
                    .slowest_disk_ns = -extremes.disk_ns,
                    .slowest_exchange_ns = -extremes.exchange_ns};
  int64_t range = 0;
  for (const int side : {0, 1}) {
    const Extremes::RangeExtremes& reach = extremes.reach[side];
    if (reach.low >= -reach.high) continue;  // nobody read, or nobody wrote
    report.reached[side] = {reach.low, -reach.high, sums.spans[side], -reach.stride};
    range = std::max(range, -reach.high - reach.low);
  }
  report.aggregators = static_cast<int64_t>(choose_aggregators(comm, file.hints, range).size());
  const std::string text = as_text(report);
  (void)fwrite(text.data(), 1, text.size(), stderr);
  append_json(report);
}

}  // namespace weft::io
