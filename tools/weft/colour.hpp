// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Colours of text on standard output, where that is a terminal that has them and NO_COLOR is not set.

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace weft::tool {

enum class Colour : uint8_t { none, strong, red, yellow, green };

inline bool has_colours() {
  const char* no = getenv("NO_COLOR");
  const char* terminal = getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && (no == nullptr || *no == '\0') && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

inline std::string coloured(const std::string& text, Colour colour) {
  constexpr const char* codes[] = {"", "\033[1m", "\033[31m", "\033[33m", "\033[32m"};
  if (colour == Colour::none || !has_colours()) return text;
  return codes[static_cast<int>(colour)] + text + "\033[0m";
}

}  // namespace weft::tool
