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

bool write_file(const std::string& name, const std::string& text, ReportProblem& problem) {
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

bool write_text(const std::string& text, const std::string& file, int errors_fd, ReportProblem& problem) {
  const bool to_file = !file.empty() && !file.ends_with(".json");
  if (to_file && write_file(file, text, problem)) return true;
  (void)write_all(errors_fd, text);
  return !to_file;
}

bool write_json(const Report& report, const std::string& end, const std::string& file, ReportProblem& problem) {
  return file.empty() || write_file(file.ends_with(".json") ? file : file + ".json", as_json(report, end), problem);
}

bool write_report(const Report& report, const std::string& end, const std::string& file, int errors_fd,
                  ReportProblem& problem) {
  const bool good = write_json(report, end, file, problem);
  return write_text(as_text(report, end), file, errors_fd, problem) && good;
}

}  // namespace weft::stats
