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

// A text with "main (wrong.c:12)" in place of the call sites of a program as statistics name them, "main+0x12
// wrong+0x1234" or "wrong+0x1234"; with "main (wrong+0x1234)" where it has no debugging information but symbols. A site
// stays as it is where nothing is known of it.
[[nodiscard]] std::string with_lines(const std::string& text, const std::string& path);

}  // namespace weft::why
