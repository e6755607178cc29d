// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The program that a command runs in the end: behind env, nice, a debugger and the like, and behind the first lines of
// scripts.

#include <cstdint>
#include <string>
#include <vector>

namespace weft::abi {

enum class Runs : uint8_t {
  program,  // the file
  python,   // the file is Python's interpreter, whose modules may need MPI
  unknown,  // a shell, whose script may start anything, or nothing that could be found
};

struct Target {
  Runs runs = Runs::unknown;
  std::string file;                // as seen from here; empty: there is none
  std::vector<std::string> shell;  // the shell and its words, if it is one
};

// `words`: the command; `folder`: where it starts, empty: here.
[[nodiscard]] Target target_of(std::vector<std::string> words, const std::string& folder);

// Files of the programs that a shell's words or the first 64 KiB of its script name, by their paths or as PATH finds
// them, each once, 64 at most. Variables and other expressions are not resolved, and such a program need not be
// started.
[[nodiscard]] std::vector<std::string> programs_of_shell(const std::vector<std::string>& shell,
                                                         const std::string& folder);

}  // namespace weft::abi
