// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A report as people and programs read it, and what it suggests.

#include <string>
#include <vector>

#include "stats/report.hpp"

namespace weft::stats {

// The call that ends a program of the models whose calls were made: MPI_Finalize or shmem_finalize.
[[nodiscard]] const char* last_call(const Report& report);

// How the job ended, or "so far": the end of the first line; empty: by its last call.
[[nodiscard]] std::string as_text(const Report& report, const std::string& end);
[[nodiscard]] std::string as_json(const Report& report, const std::string& end);

// Changes that would help, each with its evidence, the one that matters most first; empty where nothing stands out.
[[nodiscard]] std::vector<std::string> advice(const Report& report);

// Writes text and JSON as WEFT_STATS_FILE says: none, the text to stderr; a name that ends in ".json", the JSON there
// and the text to stderr; another name, the text there and the JSON to the same name with ".json". False when a file
// cannot be written: `problem` says why, and the text goes to stderr.
struct ReportProblem {
  std::string file;
  int error = 0;
};
[[nodiscard]] bool write_report(const Report& report, const std::string& end, const std::string& file, int errors_fd,
                                ReportProblem& problem);
// The two parts of that.
[[nodiscard]] bool write_text(const std::string& text, const std::string& file, int errors_fd, ReportProblem& problem);
[[nodiscard]] bool write_json(const Report& report, const std::string& end, const std::string& file,
                              ReportProblem& problem);

// Converts a number for "%llu".
inline unsigned long long wide(uint64_t number) {
  return number;
}

}  // namespace weft::stats
