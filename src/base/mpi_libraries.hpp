// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The MPI libraries of this process: their functions have the same names, so that only one of them may be there.

#include <cstdint>
#include <string>
#include <vector>

namespace weft::base {

struct MpiLibrary {
  std::string file;
  std::string needed_by;  // the first loaded file that was linked with it; it is empty where a program loads it by name
};

// Returns the libraries that are loaded and define PMPI_Init, and names this one by the file that programs load it as
// (libmpi_abi.so.1). Profiling tools define MPI_Init alone, and do not count. A process should have one. The call takes
// 10 us and more.
std::vector<MpiLibrary> loaded_mpi_libraries();

// Returns how many files the process has loaded so far. While the number stays, so do the libraries.
uint64_t files_loaded();

// Warns, once per job, when the process has a second MPI library. The warning has both files, what needs each of them,
// and the remedy.
void warn_of_second_mpi_library();

}  // namespace weft::base
