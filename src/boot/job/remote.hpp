// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The launcher by which mpiexec starts ranks on other hosts. mpiexec alone reads these settings; the rows stand here so
// that ranks, which inherit the variables, know the names.

#include <string>

namespace weft::boot {

// WEFT_REMOTE_LAUNCHER: mpiexec.hydra or prterun, a name or a path; empty when not given.
[[nodiscard]] std::string remote_launcher();

// WEFT_RSH: the program that launcher reaches hosts with, in place of ssh; empty when not given.
[[nodiscard]] std::string remote_shell();

}  // namespace weft::boot
