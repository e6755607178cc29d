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
#include <numeric>

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

constexpr double noticeable = 0.05;
// Less processor time, or time of waiting, is what a start of programs takes: it tells nothing of them.
constexpr double least_seconds = 0.05;

double share(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

Estimate estimate_of(const std::vector<double>& values) {
  const double count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {.mean = mean, .error = count > 1 ? std::sqrt(squares / (count - 1) / count) : 0};
}

double growth(const Estimate& from, const Estimate& to) {
  return to.mean - from.mean;
}

// A difference of two means below twice its standard error may be chance.
double noise_of(const Estimate& from, const Estimate& to) {
  return 2 * std::hypot(from.error, to.error);
}

// A share of the time grew by more than chance, and by enough time.
bool grew(const Estimate& from, const Estimate& to, double seconds) {
  const double more = growth(from, to);
  return more > std::max(noticeable, noise_of(from, to)) && more * seconds > least_seconds;
}

using Cause = std::pair<double, std::string>;  // how convincing it is

void processors_wanted(const Summary& alone, const Summary& crowd, int copies, int processors,
                       std::vector<Cause>& found) {
  if (alone.cpu_seconds.mean < least_seconds) return;
  const double wanted = copies * share(alone.cpu_seconds.mean, alone.seconds.mean);
  const Estimate before = alone.waiting.value_or(Summary::Waiting{}).processors;
  const Estimate now = crowd.waiting.value_or(Summary::Waiting{}).processors;
  const std::string waited = crowd.waiting ? "; some task waited for a processor " + percent(now.mean) +
                                                 " of the time, alone " + percent(before.mean)
                                           : "";
  if (wanted > processors * (1 + noticeable)) {
    found.emplace_back(std::max(growth(before, now), noticeable),
                       "processors: the copies keep " + number(wanted) + " of them busy, and there are " +
                           std::to_string(processors) + waited + ". Remedy: fewer copies at once, or fewer ranks each");
  } else if (grew(before, now, crowd.seconds.mean)) {
    found.emplace_back(growth(before, now), "the same processors: the copies keep " + number(wanted) + " of " +
                                                std::to_string(processors) + " busy, yet they wait" + waited +
                                                ". Remedy: each copy binds its ranks to the first cores; give each its "
                                                "own (taskset, cgroup), or mpiexec --bind none");
  }
}

void work_that_costs_more(const Summary& alone, const Summary& crowd, std::vector<Cause>& found) {
  const double seconds = growth(alone.cpu_seconds, crowd.cpu_seconds);
  const double more = share(seconds, alone.cpu_seconds.mean);
  if (alone.cpu_seconds.mean < least_seconds || more < noticeable) return;
  if (seconds < noise_of(alone.cpu_seconds, crowd.cpu_seconds)) return;
  found.emplace_back(std::min(more, 1.0), "caches and memory bandwidth: a copy needs " + percent(more) +
                                              " more processor time for the same work (ranks that wait actively for "
                                              "slowed ones add to that). Remedy: fewer copies on a cache or memory "
                                              "controller; weft sweep --bindings core,numa");
}

void disk_and_memory(const Summary& alone, const Summary& crowd, std::vector<Cause>& found) {
  const Summary::Waiting before = alone.waiting.value_or(Summary::Waiting{});
  const Summary::Waiting now = crowd.waiting.value_or(Summary::Waiting{});
  if (grew(before.disk, now.disk, crowd.seconds.mean)) {
    found.emplace_back(growth(before.disk, now.disk),
                       "the disk: some task waited for it " + percent(now.disk.mean) + " of the time, alone " +
                           percent(before.disk.mean) +
                           ". Remedy: files of each copy on another disk, or WEFT_IO_STATS=1 to see the accesses");
  }
  const double faults = crowd.major_faults - alone.major_faults;
  if (grew(before.memory, now.memory, crowd.seconds.mean) || faults > 100) {
    found.emplace_back(growth(before.memory, now.memory),
                       "memory: tasks waited for it " + percent(now.memory.mean) + " of the time, and a copy read " +
                           number(faults) + " more pages back from the disk. Remedy: fewer copies at once");
  }
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
  std::vector<double> seconds;
  std::vector<double> cpu_seconds;
  std::vector<double> processors;
  std::vector<double> disk;
  std::vector<double> memory;
  for (const CrowdTurn& turn : turns) {
    double turn_seconds = 0;
    double turn_cpu_seconds = 0;
    for (const CopyRun& copy : turn.copies) {
      runs += 1;
      turn_seconds += copy.seconds;
      turn_cpu_seconds += copy.cpu_seconds;
      squares += copy.seconds * copy.seconds;
      sum.slowest = std::max(sum.slowest, copy.seconds);
      sum.major_faults += static_cast<double>(copy.major_faults);
    }
    const double copies = std::max(1.0, static_cast<double>(turn.copies.size()));
    seconds.push_back(turn_seconds / copies);
    cpu_seconds.push_back(turn_cpu_seconds / copies);
    if (!turn.pressure) continue;
    processors.push_back(turn.pressure->processors);
    disk.push_back(turn.pressure->disk);
    memory.push_back(turn.pressure->memory);
  }
  if (runs == 0) return sum;
  sum.turns = static_cast<int>(turns.size());
  sum.seconds = estimate_of(seconds);
  sum.cpu_seconds = estimate_of(cpu_seconds);
  sum.major_faults /= runs;
  const double mean = sum.seconds.mean;
  if (mean > 0) sum.deviation = std::sqrt(std::max(0.0, squares / runs - mean * mean)) / mean;
  if (!processors.empty()) sum.waiting = {estimate_of(processors), estimate_of(disk), estimate_of(memory)};
  return sum;
}

Verdict contended(const Summary& alone, const Summary& crowd, int copies, int processors) {
  Verdict verdict;
  const double slowdown = share(growth(alone.seconds, crowd.seconds), alone.seconds.mean);
  verdict.noise = share(noise_of(alone.seconds, crowd.seconds), alone.seconds.mean);
  verdict.slower = alone.turns > 1 && slowdown > std::max(noticeable, verdict.noise);
  verdict.noisy = alone.turns < 2 || (!verdict.slower && verdict.noise > noticeable);
  if (!verdict.slower) return verdict;
  std::vector<Cause> found;
  processors_wanted(alone, crowd, copies, processors, found);
  work_that_costs_more(alone, crowd, found);
  disk_and_memory(alone, crowd, found);
  std::stable_sort(found.begin(), found.end(), [](const Cause& a, const Cause& b) { return a.first > b.first; });
  for (auto& [weight, line] : found) verdict.causes.push_back(std::move(line));
  return verdict;
}

}  // namespace weft::tool
