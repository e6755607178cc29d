// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Programs that were built for MPICH's ABI load libmpi.so.12, which lies in a folder that no search finds by itself
// (docs/mpich-abi.md). The launcher looks at the file of each program and adds that folder to LD_LIBRARY_PATH.

#include <string>
#include <vector>

#include "mpiexec/command.hpp"

namespace weft::mpiexec {

// The file of a program, as seen from here.
[[nodiscard]] std::string file_of(const Program& program);

// The libraries that a dynamically linked program needs, by the names in its file; empty for a script, or a file that
// cannot be read. Any content is read with bounds.
struct Needs {
  std::vector<std::string> libraries;
  bool old_search_path = false;  // DT_RPATH, which the dynamic linker follows before LD_LIBRARY_PATH
};
[[nodiscard]] Needs needs_of(const std::string& path);

// Gives the programs of the command that need it the folder of libmpi.so.12, and says so unless asked to be quiet.
void choose_abi(Command& command);

// That a program loads another MPI's library than Weft's, and the remedy: "was built with Open MPI (libmpi.so.40 at
// ...". Empty: it does not. Asks the dynamic linker about programs that need a library of MPI.
[[nodiscard]] std::string other_library(const Command& command, const Program& program);

}  // namespace weft::mpiexec
