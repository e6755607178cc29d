// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Small files in which the kernel tells about memory.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::pages {

inline constexpr uint64_t kib = 1024;

// The first 16 KiB of a file; nothing when it cannot be read.
[[nodiscard]] std::optional<std::string> read_file(const std::string& path);

// The number at the beginning of a text, behind blanks; nothing when there is none, as in "max".
[[nodiscard]] std::optional<uint64_t> number_in(std::string_view text);

// The number behind a word at the beginning of a line: "MemFree:" in "MemFree:   123 kB".
[[nodiscard]] std::optional<uint64_t> field_in(std::string_view text, std::string_view word);

// The word in brackets: "madvise" in "always [madvise] never"; empty when there is none.
[[nodiscard]] std::string_view chosen_in(std::string_view text);

}  // namespace weft::pages
