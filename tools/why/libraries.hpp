// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The libraries of MPI that a program gets from the dynamic linker.

#include <map>
#include <string>

namespace weft::why {

// The ABI that a library of MPI has, by its name; empty: it is none. Fortran's and C++'s come with one of these.
[[nodiscard]] std::string mpi_family(const std::string& library);

// The dynamic linker that the program names lists its libraries, and does not start the program. The list has the name
// of each library and its file, "not found" where there is none. False: it is no program of 64 bits that a dynamic
// linker loads, or none of this machine. `search_path`: LD_LIBRARY_PATH; empty: ours.
[[nodiscard]] bool list_libraries(const std::string& program, const std::string& search_path,
                                  std::map<std::string, std::string>& found);

}  // namespace weft::why
