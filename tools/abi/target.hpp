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
  std::string file;  // as seen from here; empty: there is none
};

// `words`: the command; `folder`: where it starts, empty: here.
[[nodiscard]] Target target_of(std::vector<std::string> words, const std::string& folder);

}  // namespace weft::abi
