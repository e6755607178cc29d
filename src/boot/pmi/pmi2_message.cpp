// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/pmi/pmi2_message.hpp"

#include <algorithm>
#include <charconv>

namespace weft::boot {
namespace {

// Where the first field of `text` ends: at a semicolon that is alone.
size_t end_of_field(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != ';') continue;
    if (i + 1 == text.size() || text[i + 1] != ';') return i;
    ++i;
  }
  return text.size();
}

}  // namespace

bool Pmi2Message::parse(std::string_view text) {
  clear();
  if (text.empty() || text.size() > longest) return false;
  for (char c : text) {
    if (static_cast<unsigned char>(c) < 32 || c == 127) return false;
  }
  while (!text.empty()) {
    const size_t end = end_of_field(text);
    if (!add(text.substr(0, end))) return false;
    text.remove_prefix(end == text.size() ? end : end + 1);
  }
  return has("cmd");
}

int Pmi2Message::length_of(std::string_view characters) {
  if (characters.size() != length_size) return -1;
  while (!characters.empty() && characters.front() == ' ') characters.remove_prefix(1);
  while (!characters.empty() && characters.back() == ' ') characters.remove_suffix(1);
  int length = 0;
  const char* const end = characters.data() + characters.size();
  const auto [stop, error] = std::from_chars(characters.data(), end, length);
  if (error != std::errc{} || stop != end || length < 1 || length > static_cast<int>(longest)) return -1;
  return length;
}

std::string Pmi2Message::framed(std::string_view text) {
  std::string length = std::to_string(text.size());
  length.insert(0, length_size - std::min(length.size(), length_size), ' ');
  return length.append(text);
}

}  // namespace weft::boot
