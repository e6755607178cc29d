// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/pmi/fields.hpp"

#include <charconv>

namespace weft::boot {

bool PmiFields::add(std::string_view word) {
  size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0) return true;
  if (count_ == most_fields) return false;
  fields_[count_++] = {word.substr(0, equals), word.substr(equals + 1)};
  return true;
}

const PmiFields::Field* PmiFields::find(std::string_view key) const {
  for (int i = 0; i < count_; ++i) {
    if (fields_[i].key == key) return &fields_[i];
  }
  return nullptr;
}

std::string_view PmiFields::value(std::string_view key) const {
  const Field* field = find(key);
  return field ? field->value : std::string_view{};
}

bool PmiFields::has(std::string_view key) const {
  return find(key) != nullptr;
}

int PmiFields::number(std::string_view key, int low, int high, int fallback) const {
  std::string_view text = value(key);
  int number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < low || number > high) return fallback;
  return number;
}

}  // namespace weft::boot
