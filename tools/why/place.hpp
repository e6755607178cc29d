// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace weft::why {

// Where an address lies in the program of a process: "main (wrong.c:12)", or "wrong+0x1234" without addr2line or the
// program's debugging information. Empty: it cannot be found.
[[nodiscard]] std::string place_of(pid_t pid, uint64_t address);

// The function that begins at an address of a process, without the marks of versions and of the library's own names.
// Empty: it cannot be found.
[[nodiscard]] std::string function_of(pid_t pid, uint64_t address);

// The place of an offset in a file, where it has the debugging information; empty otherwise.
[[nodiscard]] std::string line_of(const std::string& path, uint64_t offset);

}  // namespace weft::why
