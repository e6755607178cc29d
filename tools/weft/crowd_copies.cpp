// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/crowd_copies.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "base/clock.hpp"

namespace weft::tool {
namespace {

// Microseconds since the system started in which some task waited for the resource; false: not counted here.
bool waited_us(const char* path, uint64_t& us) {
  FILE* const file = fopen(path, "re");
  if (file == nullptr) return false;
  unsigned long long total = 0;
  const bool found = fscanf(file, "some avg10=%*f avg60=%*f avg300=%*f total=%llu", &total) == 1;
  fclose(file);
  us = total;
  return found;
}

struct Waited {
  uint64_t processors = 0;
  uint64_t disk = 0;
  uint64_t memory = 0;
  bool known = false;
};

Waited waited() {
  Waited all;
  all.known = waited_us("/proc/pressure/cpu", all.processors) && waited_us("/proc/pressure/io", all.disk) &&
              waited_us("/proc/pressure/memory", all.memory);
  return all;
}

struct Copy {
  pid_t pid = -1;
  int output = -1;
};

[[noreturn]] void become(const Words& words, int output) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  dprintf(STDERR_FILENO, "cannot be started: %s (errno %d)\n", strerror(errno), errno);
  _exit(127);
}

// The end of what a copy has written.
std::string last_lines(int output) {
  char text[1024];
  const off_t length = lseek(output, 0, SEEK_END);
  const off_t from = std::max<off_t>(0, length - static_cast<off_t>(sizeof text));
  const ssize_t bytes = pread(output, text, sizeof text, from);
  return {text, bytes > 0 ? static_cast<size_t>(bytes) : 0};
}

std::string how_it_ended(int status, int output) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  std::string text = WIFSIGNALED(status) ? "was killed by signal " + std::to_string(WTERMSIG(status))
                                         : "ended with status " + std::to_string(WEXITSTATUS(status));
  const std::string lines = last_lines(output);
  return lines.empty() ? text : text + "; the end of its output:\n" + lines;
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

// "12 %"
std::string percent(double share) {
  char text[32];
  snprintf(text, sizeof text, "%.0f %%", share * 100);
  return text;
}

std::string number(double value) {
  char text[32];
  snprintf(text, sizeof text, "%.1f", value);
  return text;
}

}  // namespace

bool run_copies(const Words& words, int copies, CrowdTurn& turn, base::Problem& problem) {
  std::vector<Copy> running(static_cast<size_t>(copies));
  turn.copies.assign(running.size(), {});
  const Waited before = waited();
  const uint64_t begin = base::now_ns();
  size_t alive = 0;
  bool started = true;
  for (Copy& copy : running) {
    copy.output = memfd_create("weft-crowd", MFD_CLOEXEC);
    if (copy.output >= 0) copy.pid = fork();
    if (copy.pid == 0) become(words, copy.output);
    if (copy.pid < 0) {
      problem = {.cause = "copy " + std::to_string(alive + 1) + " of " + std::to_string(copies) + " cannot be started",
                 .error = errno,
                 .remedy = "give -n fewer copies, or raise the limits of processes and open files (ulimit -u, -n)"};
      started = false;
      break;
    }
    ++alive;
  }
  if (!started) {
    for (const Copy& copy : running) {
      if (copy.pid > 0) kill(copy.pid, SIGTERM);
    }
  }
  while (alive > 0) {
    int status = 0;
    rusage used{};
    const pid_t pid = wait4(-1, &status, 0, &used);
    if (pid < 0 && errno == EINTR) continue;
    if (pid < 0) break;
    const auto copy = std::find_if(running.begin(), running.end(), [pid](const Copy& c) { return c.pid == pid; });
    if (copy == running.end()) continue;
    --alive;
    CopyRun& result = turn.copies[static_cast<size_t>(copy - running.begin())];
    result = {.seconds = static_cast<double>(base::now_ns() - begin) * 1e-9,
              .cpu_seconds = seconds_of(used.ru_utime) + seconds_of(used.ru_stime),
              .major_faults = used.ru_majflt,
              .failure = how_it_ended(status, copy->output)};
  }
  const double us = static_cast<double>(base::now_ns() - begin) * 1e-3;
  const Waited after = waited();
  if (before.known && after.known) {
    const auto share = [us](uint64_t from, uint64_t to) { return std::min(1.0, static_cast<double>(to - from) / us); };
    turn.pressure = {.processors = share(before.processors, after.processors),
                     .disk = share(before.disk, after.disk),
                     .memory = share(before.memory, after.memory)};
  }
  for (const Copy& copy : running) {
    if (copy.output >= 0) close(copy.output);
  }
  return started;
}

Summary summary_of(const std::vector<CrowdTurn>& turns) {
  Summary sum;
  double squares = 0;
  double runs = 0;
  double pressures = 0;
  Pressure pressure;
  for (const CrowdTurn& turn : turns) {
    for (const CopyRun& copy : turn.copies) {
      runs += 1;
      sum.mean += copy.seconds;
      squares += copy.seconds * copy.seconds;
      sum.slowest = std::max(sum.slowest, copy.seconds);
      sum.cpu_seconds += copy.cpu_seconds;
      sum.major_faults += static_cast<double>(copy.major_faults);
    }
    if (!turn.pressure) continue;
    pressures += 1;
    pressure.processors += turn.pressure->processors;
    pressure.disk += turn.pressure->disk;
    pressure.memory += turn.pressure->memory;
  }
  if (runs == 0) return sum;
  sum.mean /= runs;
  sum.cpu_seconds /= runs;
  sum.major_faults /= runs;
  if (sum.mean > 0) sum.deviation = std::sqrt(std::max(0.0, squares / runs - sum.mean * sum.mean)) / sum.mean;
  if (pressures > 0) {
    sum.pressure = {.processors = pressure.processors / pressures,
                    .disk = pressure.disk / pressures,
                    .memory = pressure.memory / pressures};
  }
  return sum;
}

std::vector<std::string> contended(const Summary& alone, const Summary& crowd, int copies, int processors) {
  constexpr double noticeable = 0.05;
  const Pressure before = alone.pressure.value_or(Pressure{});
  const Pressure now = crowd.pressure.value_or(Pressure{});
  std::vector<std::pair<double, std::string>> found;
  const double wanted = alone.mean > 0 ? copies * alone.cpu_seconds / alone.mean : 0;
  const double waits = now.processors - before.processors;
  const std::string waited = crowd.pressure ? "; some task waited for a processor " + percent(now.processors) +
                                                  " of the time, alone " + percent(before.processors)
                                            : "";
  if (wanted > processors * (1 + noticeable)) {
    found.emplace_back(std::max(waits, noticeable), "processors: the copies keep " + number(wanted) +
                                                        " of them busy, and there are " + std::to_string(processors) +
                                                        waited + ". Remedy: fewer copies at once, or fewer ranks each");
  } else if (waits > noticeable) {
    found.emplace_back(waits, "the same processors: the copies keep " + number(wanted) + " of " +
                                  std::to_string(processors) + " busy, yet they wait" + waited +
                                  ". Remedy: each copy binds its ranks to the first cores; give each its own "
                                  "(taskset, cgroup), or mpiexec --bind none");
  }
  const double growth = alone.cpu_seconds > 0 ? crowd.cpu_seconds / alone.cpu_seconds - 1 : 0;
  if (growth > noticeable) {
    found.emplace_back(std::min(growth, 1.0), "caches and memory bandwidth: a copy needs " + percent(growth) +
                                                  " more processor time for the same work (ranks that wait actively "
                                                  "for slowed ones add to that). Remedy: fewer copies on a cache or "
                                                  "memory controller; weft sweep --bindings core,numa");
  }
  if (now.disk - before.disk > noticeable) {
    found.emplace_back(now.disk - before.disk, "the disk: some task waited for it " + percent(now.disk) +
                                                   " of the time, alone " + percent(before.disk) +
                                                   ". Remedy: files of each copy on another disk, or WEFT_IO_STATS=1 "
                                                   "to see the accesses");
  }
  const double faults = crowd.major_faults - alone.major_faults;
  if (now.memory - before.memory > noticeable || faults > 100) {
    found.emplace_back(now.memory - before.memory, "memory: tasks waited for it " + percent(now.memory) +
                                                       " of the time, and a copy read " + number(faults) +
                                                       " more pages back from the disk. Remedy: fewer copies at once");
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> lines;
  lines.reserve(found.size());
  for (auto& [share, line] : found) lines.push_back(std::move(line));
  return lines;
}

}  // namespace weft::tool
