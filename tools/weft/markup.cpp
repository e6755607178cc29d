// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/markup.hpp"

namespace weft::tool {

std::string as_markup(const std::string& text, size_t most) {
  std::string out;
  for (const char c : text.substr(0, most)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return text.size() > most ? out + " ..." : out;
}

}  // namespace weft::tool
