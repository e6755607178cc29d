// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Statistics of a file: with WEFT_IO_STATS on rank 0 writes a report when the file is closed, and one line of JSON to
// WEFT_IO_STATS_FILE where that is given (docs/guide/files.md).

#include <string>
#include <vector>

#include "io/file.hpp"

namespace weft::io {

// Begins to count where the setting is on, which all ranks have alike.
void begin_statistics(File& file);

// Collective, when no access is under way.
void report_collectively(File& file);

// The numbers of a file, from all ranks.
struct FileReport {
  std::string path;
  int32_t ranks = 1;
  double seconds = 0;  // from open to close
  int64_t aggregators = 1;
  Hints hints;
  int64_t exchanged_below = large_run;  // bytes of runs for which collective calls exchange data
  Tally::Numbers all;
  int64_t slowest_disk_ns = 0;  // of the rank with the most
  int64_t slowest_exchange_ns = 0;
  // reached[0] is for reads, reached[1] for writes.
  struct Reached {
    int64_t low = 0;
    int64_t high = 0;
    int64_t spans = 0;  // of all ranks, added up: more than high - low where their parts interleave
    int64_t stride = 0;
  } reached[2];
};

[[nodiscard]] std::string as_text(const FileReport& report);
[[nodiscard]] std::string as_json(const FileReport& report);
// Changes that would help, each with its reason; empty where nothing stands out.
[[nodiscard]] std::vector<std::string> advice(const FileReport& report);

}  // namespace weft::io
