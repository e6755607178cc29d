// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Bytes as hexadecimal digits, two for each, lower case.

#include <charconv>
#include <string>
#include <string_view>

namespace weft::base {

inline std::string to_hex(std::string_view bytes) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += {digits[byte >> 4], digits[byte & 15]};
  }
  return text;
}

// false: that is no such text.
[[nodiscard]] inline bool from_hex(std::string_view text, std::string& bytes) {
  bytes.clear();
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    unsigned char byte = 0;
    const char* at = text.data() + i;
    const auto [end, error] = std::from_chars(at, at + 2, byte, 16);
    if (error != std::errc() || end != at + 2) return false;
    bytes += static_cast<char>(byte);
  }
  return text.size() % 2 == 0;
}

}  // namespace weft::base
