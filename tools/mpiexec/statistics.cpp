// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpiexec/statistics.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "abi/program.hpp"
#include "base/message.hpp"
#include "base/setting.hpp"
#include "mpiexec/process.hpp"
#include "stats/file.hpp"
#include "stats/text.hpp"
#include "why/place.hpp"

namespace weft::mpiexec {

// The report with lines of the sources in place of call sites, as far as the programs have them.
std::string Statistics::named(std::string text) const {
  for (const Program& program : command_.programs) {
    std::error_code wrong;
    text = why::with_lines(
        text, std::filesystem::absolute(abi::file_of_program(program.words[0], program.folder), wrong).string());
  }
  if (text.find("+0x") != std::string::npos && find_program("addr2line", "").empty())
    text += "  call sites have no lines, as there is no addr2line (Debian: apt-get install binutils)\n";
  return text;
}

void Statistics::prepare() {
  const bool wanted = std::any_of(command_.programs.begin(), command_.programs.end(), [&](const Program& program) {
    return command_.variable(program, "WEFT_STATS") != nullptr;
  });
  const int fd = wanted ? stats::create_file() : -1;
  if (fd < 0) return;
  constexpr int lowest = 50;  // scripts use the first descriptors as they like
  fd_ = fcntl(fd, F_DUPFD, lowest);
  close(fd);
}

std::string Statistics::report(int status) const {
  if (fd_ < 0) return {};
  stats::AreaFileReader reading(fd_);
  stats::Report report;
  bool reported = false;
  for (int place = 0; place < reading.count(); ++place) {
    const stats::Area* area = reading.area(place);
    if (area == nullptr) continue;
    reported = reported || area->head.state == static_cast<uint32_t>(stats::AreaState::reported);
    if (!reported) report.add(stats::Report::of(*area));
  }
  const std::string left = reported ? reading.text() : "";
  if (reported ? left.empty() : report.all.run.ranks == 0) return {};
  const Program& first = command_.programs.front();
  const char* given = command_.variable(first, "WEFT_STATS_FILE");
  std::string file = given != nullptr ? given : "";
  if (!file.empty() && file.front() != '/' && !first.folder.empty()) file = first.folder + "/" + file;
  const std::string end = status == 0 ? std::string("without ") + stats::last_call(report)
                                      : "the job ended early with status " + std::to_string(status);
  stats::ReportProblem problem;
  const std::string text = named(reported ? left : stats::as_text(report, end));
  const bool good = reported || stats::write_json(report, end, file, problem);
  if (stats::write_text(text, file, STDERR_FILENO, problem) && good) return {};
  return base::describe({.cause = "cannot write the statistics to " + base::quoted(problem.file),
                         .error = problem.error,
                         .remedy = "give WEFT_STATS_FILE a file that may be written, on a disk with free space"});
}

}  // namespace weft::mpiexec
