// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The launcher leads the programs of a command to Weft's libraries (tools/abi), and says where that does not help.

#include <string>

#include "mpiexec/command.hpp"

namespace weft::mpiexec {

// Adds the variables that lead there to the command, and tells notes and problems once; with --quiet, problems alone.
void choose_abi(Command& command);

// That a program, or one that the text of a shell names, loads another MPI's library than Weft's, and the remedy: "was
// built with Open MPI (libmpi.so.20 at ...". Empty: it does not.
[[nodiscard]] std::string other_library(const Command& command, const Program& program);

}  // namespace weft::mpiexec
