// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// How a rank is led to Weft's library of the ABI that its program was built for (docs/guide/binaries.md): by
// LD_LIBRARY_PATH, by LD_PRELOAD where the program has the old search path DT_RPATH, and by the variables of modules
// that open a library of MPI themselves.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "abi/face.hpp"
#include "abi/search.hpp"
#include "abi/target.hpp"
#include "base/message.hpp"

namespace weft::abi {

struct Start {
  std::vector<std::string> words;                           // the program and its arguments
  std::string folder;                                       // where it starts; empty: here
  std::function<const char*(const std::string&)> variable;  // its environment; nullptr: not set
  std::string option = "auto";                              // of --abi
};

struct Lead {
  std::vector<std::pair<std::string, std::string>> variables;  // to be set beside its environment
  Target target;
  std::vector<Library> libraries;       // of the target, with these variables
  std::string note;                     // "x needs libmpi.so.12: MPICH's ABI, from ..."; empty: nothing to say
  std::vector<base::Problem> problems;  // a library that is not there, or that cannot be led to
};

[[nodiscard]] Lead lead(const Start& start);

// The libraries of the programs that the text of a shell names, each with the program's file; none: it runs no shell.
[[nodiscard]] std::vector<std::pair<std::string, std::vector<Library>>> named_in_shell(const Start& start);

// Whether the libraries have Weft's runtime among them.
[[nodiscard]] bool has_weft(const std::vector<Library>& libraries);

}  // namespace weft::abi
