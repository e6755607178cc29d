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

namespace {

bool refuse_output(const std::string& name, base::Problem& problem) {
  problem = {.cause = name + " cannot be written",
             .error = errno,
             .remedy = "name a file that you may write, in a folder that exists, on a disk with free space"};
  return false;
}

// Writes to standard output when the path is empty.
bool write_output(const std::string& path, const std::string& text) {
  FILE* file = path.empty() ? stdout : fopen(path.c_str(), "we");
  if (file == nullptr) return false;
  const bool done = fwrite(text.data(), 1, text.size(), file) == text.size();
  return (path.empty() ? fflush(file) : fclose(file)) == 0 && done;
}

}  // namespace

bool write_text(const char* command, const char* option, const std::string& path, const std::string& text) {
  if (write_output(path, text)) return true;
  base::Problem problem;
  refuse_output(path.empty() ? "standard output" : std::string(option) + " " + base::quoted(path), problem);
  fprintf(stderr, "weft: %s: %s\n", command, base::describe(problem).c_str());
  return false;
}

bool refuse_file(const std::string& path, base::Problem& problem) {
  return refuse_output("--out " + base::quoted(path), problem);
}

bool write_file(const std::string& path, const std::string& text, base::Problem& problem) {
  errno = ENOENT;  // of an empty path, which is not standard output here
  return (!path.empty() && write_output(path, text)) || refuse_file(path, problem);
}

}  // namespace weft::tool
