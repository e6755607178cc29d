// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/text_file.hpp"

#include <cerrno>
#include <cstdio>

#include "base/file.hpp"
#include "base/message.hpp"
#include "base/setting.hpp"

namespace weft::tool {

int read_text(const std::string& path, std::string& text) {
  return base::read_file(path, text, most_bytes_of_file);
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

bool refuse_file(const std::string& path, base::Problem& problem) {
  problem = {.cause = "--out " + base::quoted(path) + " cannot be written",
             .error = errno,
             .remedy = "name a file in a folder that exists, with room, that you may write"};
  return false;
}

bool write_file(const std::string& path, const std::string& text, base::Problem& problem) {
  FILE* file = fopen(path.c_str(), "we");
  bool done = file != nullptr && fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr) done = fclose(file) == 0 && done;
  return done || refuse_file(path, problem);
}

}  // namespace weft::tool
