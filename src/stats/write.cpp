// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "stats/text.hpp"

namespace weft::stats {
namespace {

bool write_all(int fd, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t n = ::write(fd, text.data() + at, text.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += static_cast<size_t>(n);
  }
  return true;
}

bool write_file(const std::string& name, const std::string& text, Problem& problem) {
  const int fd = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  bool good = fd >= 0 && write_all(fd, text);
  int error = errno;
  if (fd >= 0 && close(fd) != 0 && good) {
    good = false;
    error = errno;
  }
  if (!good) problem = {name, error};
  return good;
}

}  // namespace

bool write_report(const Report& report, const std::string& end, const std::string& file, int errors_fd,
                  Problem& problem) {
  const std::string text = as_text(report, end);
  const bool json_alone = file.ends_with(".json");
  const bool text_written = !file.empty() && !json_alone && write_file(file, text, problem);
  bool good = text_written || file.empty() || json_alone;
  if (!file.empty()) good = write_file(json_alone ? file : file + ".json", as_json(report, end), problem) && good;
  if (!text_written) (void)write_all(errors_fd, text);
  return good;
}

}  // namespace weft::stats
