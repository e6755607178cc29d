// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The ABIs of MPI, a row for each: the names of its libraries, and the folder of those that Weft has. mpiexec, `weft`
// and their messages know nothing else about an ABI.

#include <array>
#include <span>
#include <string>

namespace weft::abi {

struct Face {
  const char* option;                    // the word of mpiexec --abi; nullptr: Weft has no library of this ABI
  const char* label;                     // "MPICH's ABI"
  const char* folder;                    // the folder of Weft's library, below lib and below src of a build
  const char* runtime;                   // the library that preloading and modules of Python name
  const char* mpi4py;                    // mpi4py's word for this ABI
  std::array<const char*, 6> libraries;  // the names that programs need; the rest is nullptr
};

[[nodiscard]] std::span<const Face> faces();

// The ABI of a library's name; nullptr: it is no library of MPI.
[[nodiscard]] const Face* face_of(const std::string& library);

// The ABI of a library that starts MPI: nullptr for libraries of Fortran and C++, which come with one.
[[nodiscard]] const Face* face_of_runtime(const std::string& library);

// The row of a word of --abi; nullptr: there is none.
[[nodiscard]] const Face* face_named(const std::string& option);

// The words of --abi, for messages: "auto, standard, mpich or none".
[[nodiscard]] std::string options_of_abi();

// Whether ranks are led to Weft's library of this ABI under a word of --abi.
[[nodiscard]] bool is_allowed(const Face& face, const std::string& option);

// The folder of Weft's library of this ABI, beside this program as installed or as built; empty: it is not there.
[[nodiscard]] std::string folder_of(const Face& face);

}  // namespace weft::abi
