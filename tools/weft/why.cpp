// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// weft why: the waits of a job's ranks, and the reason why it stands still. docs/explaining.md.
#include <charconv>
#include <cstdio>

#include "weft/commands.hpp"
#include "why/findings.hpp"
#include "why/system.hpp"

namespace weft::tool {
namespace {

constexpr const char* usage =
    "usage: weft why [JOB|PID] [--json]\n\n"
    "Says why a job stands still: which ranks wait for which, and what for. JOB is a job's name (HOST-PID), PID a "
    "process\n"
    "of it, also mpiexec's; without either, all of your jobs on this host. Nothing is stopped or changed.\n\n"
    "  --json      an object for each job, in a line\n"
    "  --help      this\n\n"
    "Status: 0 when no job is found to stand still for ever, 1 when one is (a deadlock, a rank that is stopped or has\n"
    "ended, calls that do not match), 2 when there is no such job.\n";

bool is_wanted(const why::Job& job, const std::string& wanted) {
  if (wanted.empty() || job.name == wanted) return true;
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), pid);
  return error == std::errc() && end == wanted.data() + wanted.size() && pid > 1 && why::is_of(job, pid);
}

int report(const std::string& wanted, bool json) {
  int jobs = 0;
  bool certain = false;
  for (const why::Job& job : why::find_jobs()) {
    if (!is_wanted(job, wanted)) continue;
    const why::Snapshot snapshot = why::look_at(job);
    if (snapshot.processes.empty()) continue;
    if (++jobs > 1 && !json) putchar('\n');
    fputs(json ? (as_json(snapshot) + "\n").c_str() : as_text(snapshot).c_str(), stdout);
    for (const why::Finding& f : find_causes(snapshot)) certain |= is_certain(f.cause);
  }
  if (jobs != 0) return certain ? 1 : 0;
  const std::string which = wanted.empty()
                                ? "no job of yours runs on this host"
                                : "\"" + wanted.substr(0, 60) + "\" is no job on this host, and no process of one";
  fprintf(stderr,
          "weft why: %s. Remedy: ask on the host where its ranks run, as the user who started it; ps shows the pids\n",
          which.c_str());
  return 2;
}

}  // namespace

int why(const Words& words) {
  std::string wanted;
  bool json = false;
  for (const std::string& word : words) {
    if (word == "--help" || word == "-h") {
      fputs(usage, stdout);
      return 0;
    }
    if (word == "--json") {
      json = true;
    } else if (!word.empty() && word[0] != '-' && wanted.empty()) {
      wanted = word;
    } else {
      fprintf(stderr, "weft why: \"%.60s\" is no option, or a second job\n%s", word.c_str(), usage);
      return 2;
    }
  }
  return report(wanted, json);
}

}  // namespace weft::tool
