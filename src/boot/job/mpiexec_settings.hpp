// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Settings that mpiexec alone reads. Their rows stand here so that ranks, which inherit the variables, know the names.

#include <cstdint>
#include <string>

namespace weft::boot {

// WEFT_REMOTE_LAUNCHER: the launcher by which mpiexec starts ranks on other hosts, mpiexec.hydra or prterun, a name or
// a path; empty when not given.
[[nodiscard]] std::string remote_launcher();

// WEFT_RSH: the program that launcher reaches hosts with, in place of ssh; empty when not given.
[[nodiscard]] std::string remote_shell();

// WEFT_WHY_AFTER: after so many seconds without output mpiexec looks whether the job stands still; 0: never.
[[nodiscard]] uint64_t hang_report_seconds();

}  // namespace weft::boot
