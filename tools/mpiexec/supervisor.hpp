// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A job on several hosts while its launcher runs: the end of its time (--timeout), and the look at a job that has been
// quiet for a while (WEFT_WHY_AFTER). docs/guide/why.md.

#include <string>
#include <vector>

#include "mpiexec/process.hpp"

namespace weft::mpiexec {

struct RemoteJob {
  std::string hosts;  // "a,b"
  std::string name;   // as the ranks have it in their environment
};

// Runs the launcher with these words. The result is its status, 128 + signal when it was killed, and 124 after
// timeout_us, which is 0 for a job that may run for ever.
[[nodiscard]] int supervise(const std::vector<std::string>& words, Environment& environment, int64_t timeout_us,
                            const RemoteJob& job);

}  // namespace weft::mpiexec
