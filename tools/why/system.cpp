// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "why/system.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <ctime>
#include <map>
#include <optional>

#include "base/clock.hpp"
#include "boot/job/environment.hpp"
#include "boot/job/status.hpp"
#include "why/place.hpp"
#include "why/proc.hpp"
#include "why/threads.hpp"

namespace weft::why {
namespace {

constexpr const char* segment_link = "/memfd:weft (deleted)";
constexpr const char* page_link = "/memfd:weft-why (deleted)";

// The numbers that are names in a folder of /proc.
std::vector<pid_t> numbers_in(const std::string& folder) {
  std::vector<pid_t> found;
  DIR* entries = opendir(folder.c_str());
  if (entries == nullptr) return found;
  while (const dirent* entry = readdir(entries)) {
    const std::string_view name = entry->d_name;
    const auto number = number_of<pid_t>(name);
    if (number.has_value() && std::to_string(*number) == name) found.push_back(*number);
  }
  closedir(entries);
  std::sort(found.begin(), found.end());
  return found;
}

std::string link_of(const std::string& path) {
  char link[256];
  const ssize_t n = readlink(path.c_str(), link, sizeof link);
  return {link, n > 0 ? static_cast<size_t>(n) : 0};
}

// The descriptor of a process that leads there, as a path in /proc; empty: it has none, or hides it.
std::string descriptor_to(pid_t pid, const char* link) {
  for (const pid_t fd : numbers_in(in_proc(pid, "fd"))) {
    std::string path = in_proc(pid, "fd/" + std::to_string(fd));
    if (link_of(path) == link) return path;
  }
  return {};
}

std::string variable_of(const std::string& environment, const char* name) {
  const std::string begin = std::string(name) + "=";
  for (size_t at = 0; at < environment.size();) {
    const size_t end = std::min(environment.find('\0', at), environment.size());
    if (environment.compare(at, begin.size(), begin) == 0)
      return environment.substr(at + begin.size(), end - at - begin.size());
    at = end + 1;
  }
  return {};
}

// A thread as the system has it.
struct Task {
  char state = '?';
  uint64_t ran_ns = 0;
  uint64_t slept = 0;  // so many times, while it runs or is about to
};

// The fields of a stat file behind the name, which may hold anything.
std::vector<std::string> fields_of(const std::string& stat) {
  std::vector<std::string> fields;
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return fields;
  for (size_t at = name_end + 2; at < stat.size();) {
    const size_t end = std::min(stat.find_first_of(" \n", at), stat.size());
    fields.push_back(stat.substr(at, end - at));
    at = end + 1;
  }
  return fields;
}

// How often a thread gave its processor up by itself.
uint64_t times_slept(const std::string& folder) {
  constexpr std::string_view name = "\nvoluntary_ctxt_switches:\t";
  const std::string status = text_of(folder + "/status");
  const size_t at = status.find(name);
  return at == std::string::npos ? 0
                                 : number_of<uint64_t>(std::string_view(status).substr(at + name.size())).value_or(0);
}

Task task_of(const std::string& folder) {
  Task task;
  const std::vector<std::string> fields = fields_of(text_of(folder + "/stat"));
  if (fields.empty() || fields[0].empty()) return task;
  task.state = fields[0][0];
  if (task.state == 'R') task.slept = times_slept(folder);
  const std::string run = text_of(folder + "/schedstat");
  if (const auto ns = number_of<uint64_t>(run); ns.has_value()) {
    task.ran_ns = *ns;
  } else if (fields.size() > 12) {
    const uint64_t tick_ns = 1000000000 / static_cast<uint64_t>(std::max(sysconf(_SC_CLK_TCK), 1L));
    task.ran_ns = (number_of<uint64_t>(fields[11]).value_or(0) + number_of<uint64_t>(fields[12]).value_or(0)) * tick_ns;
  }
  return task;
}

pid_t parent_of(pid_t pid) {
  const std::vector<std::string> fields = fields_of(text_of(in_proc(pid, "stat")));
  return fields.size() > 1 ? number_of<pid_t>(fields[1]).value_or(0) : 0;
}

// One look at a process.
struct Look {
  bool there = false;
  bool has_page = false;
  Page page;
  std::string raw_page;
  std::map<uint32_t, Task> tasks;
};

bool read_page_of(pid_t pid, Page& page, std::string& raw) {
  const std::string path = descriptor_to(pid, page_link);
  if (path.empty()) return false;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  constexpr int tries = 5;
  bool good = false;
  for (int i = 0; i < tries && !good; ++i) {
    alignas(8) char bytes[sizeof(boot::WaitPage)];
    const ssize_t n = pread(fd, bytes, sizeof bytes, 0);
    uint64_t after = 0;
    good = n > 0 && read_page(bytes, static_cast<size_t>(n), page) &&
           pread(fd, &after, sizeof after, offsetof(boot::WaitPage, sequence)) == static_cast<ssize_t>(sizeof after) &&
           after == page.sequence;
    if (good) {
      raw.assign(bytes, static_cast<size_t>(n));
    } else {
      usleep(1000);
    }
  }
  close(fd);
  return good && page.pid == static_cast<uint32_t>(pid);
}

Look look_once(pid_t pid) {
  Look look;
  for (const pid_t task : numbers_in(in_proc(pid, "task"))) {
    look.tasks[static_cast<uint32_t>(task)] = task_of(in_proc(pid, "task/" + std::to_string(task)));
  }
  const auto main = look.tasks.find(static_cast<uint32_t>(pid));
  look.there = main != look.tasks.end() && main->second.state != 'Z' && main->second.state != 'X';
  look.has_page = look.there && read_page_of(pid, look.page, look.raw_page);
  return look;
}

// Whether a thread was seen asleep at a time from `first` on. One that wakes each millisecond to look at memory is in
// the queue of a busy processor most of the time, and sleeps in between.
bool has_slept(const Task& first, const Task& last) {
  return first.state != 'R' || last.state != 'R' || last.slept != first.slept;
}

// Whether a thread used more than a tenth of its processor's time between two looks, or wants to.
bool is_busy(const Task& before, const Task& after, uint64_t passed_ns) {
  return after.ran_ns - before.ran_ns > passed_ns / 10 || !has_slept(before, after);
}

// By a signal: one that a debugger holds goes on when that lets it.
bool is_stopped(const Look& look) {
  return std::all_of(look.tasks.begin(), look.tasks.end(), [](const auto& t) { return t.second.state == 'T'; });
}

// Three looks at a process: the last is the middle one, or follows while that leaves open whether a thread waits.
struct Looks {
  const Look& first;
  const Look& middle;
  const Look& last;
  uint64_t passed_ns;  // from the first to the last
};

// The waits that all looks found, with nothing changed and their threads asleep. A thread that runs may have been woken
// by a message: it has to be asleep at a time from the middle look on, when all processes had been looked at once.
// `open`: a thread of such a wait runs.
std::vector<Wait> lasting(const Looks& looks, bool& open) {
  open = false;
  std::vector<Wait> waits;
  if (!looks.first.has_page || !looks.last.has_page) return waits;
  for (const Wait& wait : looks.last.page.waits) {
    const std::vector<Wait>& earlier = looks.first.page.waits;
    const auto same = std::find_if(earlier.begin(), earlier.end(), [&](const Wait& w) {
      return w.number == wait.number && w.listed == wait.listed && w.messages == wait.messages &&
             w.target == wait.target;
    });
    const auto was = looks.first.tasks.find(wait.thread);
    const auto went = looks.middle.tasks.find(wait.thread);
    const auto is = looks.last.tasks.find(wait.thread);
    if (same == earlier.end() || was == looks.first.tasks.end() || went == looks.middle.tasks.end() ||
        is == looks.last.tasks.end()) {
      continue;
    }
    if (has_slept(went->second, is->second) && !is_busy(was->second, is->second, looks.passed_ns)) {
      waits.push_back(wait);
    } else {
      open = true;
    }
  }
  return waits;
}

// False: another look may tell more.
bool judge(const Looks& looks, Process& p) {
  const Look& after = looks.last;
  if (!after.there) {
    p.state = State::ended;
    return true;
  }
  if (is_stopped(after)) {
    p.state = State::stopped;
    return true;
  }
  bool open = false;
  p.page = after.page;
  p.raw_page = after.raw_page;
  p.page.waits = lasting(looks, open);
  bool busy = after.has_page && p.page.waits.size() != after.page.waits.size();
  // Threads beside those that wait in MPI: some may call it, or all wait for another one of the process.
  bool others = false;
  bool still = !open && after.page.untold == 0;
  std::map<uint32_t, Futex> futexes;
  for (const auto& [thread, is] : after.tasks) {
    const auto waits_there = [thread = thread](const Wait& wait) { return wait.thread == thread; };
    if (std::any_of(p.page.waits.begin(), p.page.waits.end(), waits_there)) continue;
    const auto was = looks.first.tasks.find(thread);
    const bool runs = was == looks.first.tasks.end() || is_busy(was->second, is, looks.passed_ns);
    const std::optional<Futex> futex = runs ? std::nullopt : futex_of(p.pid, thread);
    if (futex.has_value()) futexes[thread] = *futex;
    busy |= runs;
    others |= !futex.has_value();
    still &= futex.has_value() && was->second.ran_ns == is.ran_ns;
  }
  others |= !futexes.empty() && has_handlers(p.pid);
  p.threads_act = p.page.concurrent ? others || after.page.untold != 0 : false;
  p.state = !p.page.waits.empty() ? State::waiting
            : busy                ? State::running
            : still && !others    ? State::locked
                                  : State::sleeping;
  p.thread_waits.clear();
  const bool may_wait = p.state == State::locked || (p.state == State::waiting && p.page.concurrent && !p.threads_act);
  for (const auto& [thread, futex] : futexes) {
    if (may_wait) p.thread_waits.push_back(wait_of(p.pid, thread, futex));
  }
  return !open;
}

void judge_until_clear(const Look& before, uint64_t looked_ns, uint64_t until_ns, Process& p) {
  constexpr uint64_t between_us = 5000;
  const bool starting = p.state == State::starting;
  const Look middle = look_once(p.pid);
  bool clear = judge({before, middle, middle, base::now_ns() - looked_ns}, p);
  while (!clear && base::now_ns() < until_ns) {
    usleep(between_us);
    const Look last = look_once(p.pid);
    clear = judge({before, middle, last, base::now_ns() - looked_ns}, p);
  }
  if (starting && (p.state == State::running || p.state == State::sleeping || p.state == State::locked))
    p.state = State::starting;
}

// ---- The ranks of a job

struct Members {
  int32_t size = 1;
  std::map<int32_t, Process> by_rank;
};

// Line `i` of the segment's head (boot/job/status.hpp); false: no process has taken this place, or it is no such line.
bool read_line(int segment, int32_t i, boot::Phase& phase, pid_t& pid) {
  uint32_t words[2] = {};  // phase and pid
  const off_t at = static_cast<off_t>(sizeof(boot::RankStatus)) * i;
  if (pread(segment, words, sizeof words, at) != static_cast<ssize_t>(sizeof words)) return false;
  if (words[0] > static_cast<uint32_t>(boot::last_phase) || words[1] == 0) return false;
  phase = static_cast<boot::Phase>(words[0]);
  pid = static_cast<pid_t>(words[1]);
  return pid > 0;
}

int open_segment(const Job& job) {
  for (const pid_t pid : job.pids) {
    const std::string path = descriptor_to(pid, segment_link);
    struct stat s;
    const int fd = path.empty() ? -1 : open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    if (fstat(fd, &s) == 0 && s.st_dev == job.device && s.st_ino == job.inode) return fd;
    close(fd);
  }
  return -1;
}

State state_of(boot::Phase phase, bool alive) {
  if (phase == boot::Phase::finalized || phase == boot::Phase::left) return State::finalized;
  if (!alive) return State::ended;
  return phase == boot::Phase::started ? State::starting : State::running;
}

// By the environments of processes, as launchers set them; under mpiexec also of ranks that have not called MPI_Init,
// for they inherit the segment.
void add_by_environment(const Job& job, Members& members) {
  struct Names {
    const char* rank;
    const char* size;
    State state;
  };
  constexpr Names launchers[] = {{boot::variable::rank, boot::variable::size, State::starting},
                                 {"PMI_RANK", "PMI_SIZE", State::running},
                                 {"PMIX_RANK", "OMPI_COMM_WORLD_SIZE", State::running}};
  for (const pid_t pid : job.pids) {
    const std::string environment = text_of(in_proc(pid, "environ"));
    for (const Names& names : launchers) {
      const auto rank = number_of<int32_t>(variable_of(environment, names.rank));
      const auto size = number_of<int32_t>(variable_of(environment, names.size));
      if (!size.has_value() || *size < 1 || *size > boot::most_ranks) continue;
      members.size = std::max(members.size, *size);
      if (rank.has_value() && *rank >= 0 && *rank < *size)
        members.by_rank.try_emplace(*rank, Process{.rank = *rank, .pid = pid, .state = names.state});
      break;
    }
  }
}

void add_by_page(const Job& job, Members& members) {
  for (const pid_t pid : job.pids) {
    Page page;
    std::string raw;
    if (!read_page_of(pid, page, raw)) continue;
    members.size = std::max(members.size, page.size);
    members.by_rank[page.rank] = {.rank = page.rank, .pid = pid, .state = State::running};
  }
}

// The lines of the segment are places on this host. They are ranks where all ranks are here; a page that says another
// rank than its line tells that they are not.
void add_by_segment(const Job& job, int segment, Members& members) {
  boot::Phase phase{};
  pid_t pid = 0;
  for (const auto& [rank, p] : members.by_rank) {
    if (p.state == State::running && (!read_line(segment, rank, phase, pid) || pid != p.pid)) return;
  }
  const auto is_here = [&](pid_t wanted) { return std::binary_search(job.pids.begin(), job.pids.end(), wanted); };
  while (members.by_rank.empty() && members.size < boot::most_ranks && read_line(segment, members.size, phase, pid) &&
         is_here(pid)) {
    ++members.size;  // no other source tells how many they are
  }
  for (int32_t i = 0; i < members.size; ++i) {
    if (!read_line(segment, i, phase, pid)) continue;
    members.by_rank[i] = {.rank = i, .pid = pid, .state = state_of(phase, is_here(pid))};
  }
}

Members members_of(const Job& job) {
  Members members;
  add_by_environment(job, members);
  add_by_page(job, members);
  const int segment = open_segment(job);
  if (segment >= 0) {
    add_by_segment(job, segment, members);
    close(segment);
  }
  // A program without a launcher says nothing about itself.
  if (members.by_rank.empty() && job.pids.size() == 1)
    members.by_rank[0] = {.rank = 0, .pid = job.pids[0], .state = State::running};
  return members;
}

void find_places(Process& p) {
  for (Wait& wait : p.page.waits) wait.place = place_of(p.pid, wait.site);
}

}  // namespace

std::vector<Job> find_jobs() {
  std::map<std::pair<uint64_t, uint64_t>, Job> jobs;
  for (const pid_t pid : numbers_in("/proc")) {
    const std::string path = descriptor_to(pid, segment_link);
    struct stat s;
    if (path.empty() || stat(path.c_str(), &s) != 0) continue;
    Job& job = jobs[{s.st_dev, s.st_ino}];
    job.device = s.st_dev;
    job.inode = s.st_ino;
    job.pids.push_back(pid);
    if (job.name.empty()) job.name = variable_of(text_of(in_proc(pid, "environ")), boot::variable::job_id);
  }
  std::vector<Job> found;
  found.reserve(jobs.size());
  for (auto& [key, job] : jobs) found.push_back(std::move(job));
  return found;
}

bool is_of(const Job& job, pid_t pid) {
  constexpr int most = 16;  // generations
  for (const pid_t member : job.pids) {
    pid_t at = member;
    for (int i = 0; i < most && at > 1; ++i, at = parent_of(at)) {
      if (at == pid) return true;
    }
  }
  return false;
}

Snapshot look_at(const Job& job) {
  constexpr uint64_t between_us = 200000;
  constexpr uint64_t at_most_ns = 500000000;  // looks at threads that run
  Members members = members_of(job);
  Snapshot snapshot{.job = job.name, .size = members.size};
  char host[65] = "";
  gethostname(host, sizeof host - 1);
  snapshot.host = host;
  std::map<int32_t, Look> before;
  for (const auto& [rank, p] : members.by_rank) before[rank] = look_once(p.pid);
  const uint64_t looked_ns = base::now_ns();
  usleep(between_us);
  const uint64_t until_ns = base::now_ns() + at_most_ns;
  for (auto& [rank, p] : members.by_rank) {
    if (p.state == State::starting || p.state == State::running) {
      judge_until_clear(before[rank], looked_ns, until_ns, p);
    }
    if (snapshot.job.empty()) snapshot.job = p.page.job;
    find_places(p);
    snapshot.processes.push_back(std::move(p));
  }
  snapshot.now_ns = base::now_ns();
  return snapshot;
}

}  // namespace weft::why
