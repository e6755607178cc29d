// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/pmi_line.hpp"

#include <charconv>

namespace weft::boot {

bool PmiLine::parse(std::string_view line) {
  count_ = 0;
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
    std::string_view word = line.substr(0, space);
    line.remove_prefix(space == std::string_view::npos ? line.size() : space);
    size_t equals = word.find('=');
    // Servers put words without "=" into messages for people ("msg=key not found"): passed over.
    if (equals == std::string_view::npos || equals == 0) continue;
    if (count_ == most_fields) return false;
    fields_[count_++] = {word.substr(0, equals), word.substr(equals + 1)};
  }
  return has("cmd") || has("mcmd");
}

const PmiLine::Field* PmiLine::find(std::string_view key) const {
  for (int i = 0; i < count_; ++i) {
    if (fields_[i].key == key) return &fields_[i];
  }
  return nullptr;
}

std::string_view PmiLine::value(std::string_view key) const {
  const Field* field = find(key);
  return field ? field->value : std::string_view{};
}

bool PmiLine::has(std::string_view key) const {
  return find(key) != nullptr;
}

int PmiLine::number(std::string_view key, int low, int high, int fallback) const {
  std::string_view text = value(key);
  int number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < low || number > high) return fallback;
  return number;
}

}  // namespace weft::boot
