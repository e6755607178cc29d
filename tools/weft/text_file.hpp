// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "base/message.hpp"

namespace weft::tool {

inline constexpr size_t most_bytes_of_file = size_t{1} << 30;

// All of a file of at most that many bytes. Returns 0, or an errno.
[[nodiscard]] int read_text(const std::string& path, std::string& text);

// Writes a file that an option has named, or standard output when the path is empty. False: the reason has been
// printed.
[[nodiscard]] bool write_text(const char* command, const char* option, const std::string& path,
                              const std::string& text);

// Writes a file that --out names. False: `problem` says why it cannot be written.
// refuse_file() says so by errno, and is false.
[[nodiscard]] bool write_file(const std::string& path, const std::string& text, base::Problem& problem);
bool refuse_file(const std::string& path, base::Problem& problem);

}  // namespace weft::tool
