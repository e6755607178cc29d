// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Files of /proc.

#include <sys/types.h>

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace weft::why {

[[nodiscard]] std::string in_proc(pid_t pid, const std::string& rest);
// A file's text, at most a mebibyte of it; empty: it cannot be read.
[[nodiscard]] std::string text_of(const std::string& path);

// The number that a text begins with.
template <class Number>
[[nodiscard]] std::optional<Number> number_of(std::string_view text, int base = 10) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

}  // namespace weft::why
