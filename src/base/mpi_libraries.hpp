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
  std::string needed_by;  // the first loaded file that was linked with it, empty: it was loaded by its name
};

// The libraries that are loaded and define PMPI_Init, this one by the file that programs load it as (libmpi_abi.so.1).
// Profiling tools define MPI_Init alone, and do not count. At most one library is right. Takes 10 us and more.
std::vector<MpiLibrary> loaded_mpi_libraries();

// How many files the process has loaded so far: the libraries are the ones of before as long as it is the same.
uint64_t files_loaded();

// Warns, once per job, when the process has a second MPI library: both files, by what they came, and the remedy.
void warn_of_second_mpi_library();

}  // namespace weft::base
