// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "pages/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>

namespace weft::pages {

std::optional<std::string> read_file(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::string text(size_t{16} << 10, 0);
  size_t length = 0;
  while (length < text.size()) {
    const ssize_t got = read(fd, text.data() + length, text.size() - length);
    if (got <= 0) break;
    length += static_cast<size_t>(got);
  }
  close(fd);
  text.resize(length);
  return text;
}

std::optional<uint64_t> number_in(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + first, text.data() + text.size(), value);
  if (error != std::errc{}) return {};
  return value;
}

std::optional<uint64_t> field_in(std::string_view text, std::string_view word) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with(word)) return number_in(line.substr(word.size()));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return {};
}

std::string_view chosen_in(std::string_view text) {
  const size_t open = text.find('[');
  const size_t close = text.find(']', open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || close == std::string_view::npos) return {};
  return text.substr(open + 1, close - open - 1);
}

}  // namespace weft::pages
