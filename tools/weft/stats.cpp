// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// `weft stats`: the counters of calls of a job that runs.

#include <dirent.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fstream>

#include "base/message.hpp"
#include "base/setting.hpp"
#include "stats/file.hpp"
#include "stats/text.hpp"
#include "weft/commands.hpp"

namespace weft::tool {
namespace {

constexpr const char* help =
    "usage: weft stats [--json] PID\n\n"
    "The calls of MPI and OpenSHMEM so far of a job that runs with WEFT_STATS=summary, calls or full. PID is that of\n"
    "mpiexec or of a rank. Under another launcher than Weft's mpiexec, each rank shows its own alone.\n";

bool parse_pid(const std::string& word, int& pid) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), pid);
  return error == std::errc() && end == word.data() + word.size() && pid > 0;
}

int parent_of(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string line;
  std::getline(file, line);
  const size_t name_end = line.rfind(')');  // "pid (name) state parent ..."
  if (name_end == std::string::npos || line.size() < name_end + 5) return 0;
  int parent = 0;
  std::from_chars(line.data() + name_end + 4, line.data() + line.size(), parent);
  return parent;
}

// The process's file, or that of a child: mpiexec works behind a front.
int open_file(int pid) {
  const int own = stats::open_file_of(pid);
  const int error = errno;
  if (own >= 0) return own;
  int found = -1;
  DIR* processes = opendir("/proc");
  if (processes == nullptr) return -1;
  while (const dirent* entry = readdir(processes)) {
    int child = 0;
    if (found >= 0 || !parse_pid(entry->d_name, child) || parent_of(entry->d_name) != pid) continue;
    found = stats::open_file_of(child);
  }
  closedir(processes);
  errno = error;
  return found;
}

}  // namespace

int stats(const Words& words) {
  bool json = false;
  int pid = 0;
  for (const std::string& word : words) {
    if (word == "--help" || word == "-h") {
      fputs(help, stdout);
      return 0;
    }
    if (word == "--json") {
      json = true;
    } else if (pid != 0 || !parse_pid(word, pid)) {
      fprintf(stderr, "weft: stats: %s is no process id. Remedy: see weft stats --help\n", base::quoted(word).c_str());
      return 2;
    }
  }
  if (pid == 0) {
    fputs(help, stderr);
    return 2;
  }
  const int fd = open_file(pid);
  if (fd < 0) {
    const std::string text = base::describe(
        {.cause = "cannot read statistics of process " + std::to_string(pid),
         .error = errno == ENOENT ? 0 : errno,
         .remedy = "give the process id of a job of yours that runs with WEFT_STATS=summary, calls or full"});
    fprintf(stderr, "weft: stats: %s\n", text.c_str());
    return 1;
  }
  stats::AreaFileReader reading(fd);
  stats::Report report;
  for (int place = 0; place < reading.count(); ++place) {
    if (const stats::Area* area = reading.area(place)) report.add(stats::Report::of(*area));
  }
  close(fd);
  if (report.all.run.ranks == 0) {
    fprintf(stderr, "weft: stats: no rank of process %d has come to count calls, or it is of another version of Weft\n",
            pid);
    return 1;
  }
  const std::string text = json ? as_json(report, "so far") : as_text(report, "so far");
  fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace weft::tool
