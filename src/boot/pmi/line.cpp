// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/pmi/line.hpp"

namespace weft::boot {

bool PmiLine::parse(std::string_view line) {
  clear();
  if (line.empty() || line.size() > longest) return false;
  for (char c : line) {
    if (static_cast<unsigned char>(c) < 32 || c == 127) return false;
  }
  while (!line.empty()) {
    if (line[0] == ' ') {
      line.remove_prefix(1);
      continue;
    }
    size_t space = line.find(' ');
    // Servers put words without "=" into messages for people ("msg=key not found"): passed over.
    if (!add(line.substr(0, space))) return false;
    line.remove_prefix(space == std::string_view::npos ? line.size() : space);
  }
  return has("cmd") || has("mcmd");
}

}  // namespace weft::boot
