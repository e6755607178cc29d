// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/file.hpp"

#include <cerrno>
#include <cstdio>
#include <vector>

namespace weft::base {

int read_file(const std::string& path, std::string& text, size_t most) {
  FILE* file = fopen(path.c_str(), "re");
  if (file == nullptr) return errno;
  std::vector<char> buffer(1 << 16);
  int error = 0;
  while (error == 0) {
    const size_t count = fread(buffer.data(), 1, buffer.size(), file);
    if (count == 0) {
      error = ferror(file) != 0 ? errno : 0;
      break;
    }
    text.append(buffer.data(), count);
    if (text.size() > most) error = EFBIG;
  }
  fclose(file);
  return error;
}

}  // namespace weft::base
