// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/text_file.hpp"

#include <cerrno>
#include <cstdio>
#include <vector>

#include "base/message.hpp"
#include "base/setting.hpp"

namespace weft::tool {

int read_text(const std::string& path, std::string& text) {
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
    if (text.size() > most_bytes_of_file) error = EFBIG;
  }
  fclose(file);
  return error;
}

bool write_text(const char* command, const char* option, const std::string& path, const std::string& text) {
  FILE* file = path.empty() ? stdout : fopen(path.c_str(), "we");
  int error = errno;
  bool done = file != nullptr;
  if (done) {
    done = fwrite(text.data(), 1, text.size(), file) == text.size();
    done = (path.empty() ? fflush(file) : fclose(file)) == 0 && done;
    error = errno;
  }
  if (done) return true;
  const std::string name = path.empty() ? "standard output" : std::string(option) + " " + base::quoted(path);
  fprintf(stderr, "weft: %s: %s\n", command,
          base::describe({.cause = name + " cannot be written",
                          .error = error,
                          .remedy = "name a file in a folder that exists, with room, that you may write"})
              .c_str());
  return false;
}

}  // namespace weft::tool
