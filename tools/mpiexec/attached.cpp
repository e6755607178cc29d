// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpiexec/attached.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/descriptor.hpp"
#include "base/message.hpp"
#include "base/process.hpp"
#include "base/setting.hpp"
#include "boot/connect/own_launcher.hpp"
#include "boot/connect/service.hpp"
#include "boot/job/environment.hpp"
#include "boot/job/segment.hpp"
#include "boot/job/status.hpp"
#include "mpiexec/front.hpp"
#include "mpiexec/launch.hpp"

namespace weft::mpiexec {
namespace {

bool read_number(const std::string& word, int most, int& number) {
  int64_t value = 0;
  if (!base::parse_number(word, base::Unit::none, value).empty() || value < 1 || value > most) return false;
  number = static_cast<int>(value);
  return true;
}

std::string name_of(pid_t pid) {
  char name[256] = "";
  const int fd = open(("/proc/" + std::to_string(pid) + "/cmdline").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    const ssize_t n = read(fd, name, sizeof name - 1);
    name[n > 0 ? n : 0] = '\0';
    close(fd);
  }
  return name;
}

// Our descriptors and its number are as the process has given them; it is our parent still.
bool take(const std::vector<std::string>& words, Attached& attached) {
  int pid = 0;
  int hosts = 0;
  if (words.size() != 6 || !read_number(words[1], INT32_MAX, pid) ||
      !read_number(words[2], boot::most_ranks, attached.places) ||
      !read_number(words[3], attached.places, attached.started) || !read_number(words[4], 2, hosts) ||
      pid != getppid() || !boot::is_segment(boot::attach_segment) || fcntl(boot::attach_line, F_GETFD) < 0) {
    base::tell({.cause = std::string("mpiexec ") + boot::attach_option + " is for processes that Weft runs in",
                .remedy = "see mpiexec --help"});
    return false;
  }
  attached.pid = pid;
  attached.segment = boot::attach_segment;
  attached.line = boot::attach_line;
  attached.several_hosts = hosts == 2;
  attached.id = words[5];
  attached.process = base::open_process(pid);
  if (attached.process >= 0 && getppid() == pid) return true;
  base::tell({.cause = "mpiexec cannot wait for process " + std::to_string(pid),
              .error = errno,
              .remedy = "start the program with Weft's mpiexec; without it, this takes Linux 5.3 and pidfd_open"});
  return false;
}

}  // namespace

int serve_attached(const std::vector<std::string>& words) {
  Attached attached;
  if (!take(words, attached)) return status_not_started;
  // The process waits for this one. Signals of its terminal are for the process alone.
  if (const pid_t ours = fork(); ours != 0) return ours > 0 ? 0 : status_not_started;
  setsid();
  constexpr int process = 5;
  if (attached.process != process && dup2(attached.process, process) == process) attached.process = process;
  (void)fcntl(process, F_SETFD, FD_CLOEXEC);
  (void)fcntl(attached.line, F_SETFD, FD_CLOEXEC);
  base::close_from(process + 1);
  unsetenv("WEFT_LAUNCHER");  // "singleton" is meant for the process, not for those that it spawns
  Command command;
  command.quiet = true;
  command.binding.binding = topo::Binding::none;
  command.programs.emplace_back().words = {name_of(attached.pid)};
  command.programs.back().ranks = attached.started;
  // Spawned processes of a job on several hosts have the universe of its ranks.
  const char* const universe = attached.several_hosts ? getenv(boot::variable::universe_size) : nullptr;
  if (universe != nullptr) (void)read_number(universe, boot::most_ranks, command.universe);
  return run_behind_front([&] { return Launch(command, &attached).run(); }, attached.process);
}

// ---- The part of Launch that has not started its ranks itself

// A rank that has left MPI is not waited for. False, with errno: a process cannot be watched.
bool Launch::adopt_rank(int place, const boot::RankStatus& line) {
  Rank& rank = ranks_[static_cast<size_t>(place)];
  rank.pid = static_cast<pid_t>(line.pid.load(std::memory_order_relaxed));
  rank.adopted = true;
  if (rank.pid == attached_->pid) {
    first_ = place;
    rank.process = attached_->process;
  } else if (line.pid_space.load(std::memory_order_relaxed) == static_cast<uint32_t>(boot::namespace_of_processes())) {
    rank.process = base::open_process(rank.pid);
  } else {
    errno = ESRCH;
  }
  const auto phase = static_cast<boot::Phase>(line.phase.load(std::memory_order_acquire));
  rank.left = phase == boot::Phase::left || (phase == boot::Phase::finalized && rank.process < 0);
  rank.alive = !rank.left;
  if (rank.alive) ++alive_;
  return rank.left || rank.process >= 0;
}

bool Launch::adopt() {
  const size_t bytes = sizeof(boot::RankStatus) * ranks_.size();
  void* const head = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, segment_, 0);
  if (head == MAP_FAILED) return false;
  bool all = true;
  for (int place = 0; place < attached_->started && all; ++place) {
    Rank& rank = ranks_[static_cast<size_t>(place)];
    all = adopt_rank(place, boot::status_of(head, place));
    const int error = errno;
    Program& program = adopted_programs_.emplace_back();
    program.words = {name_of(rank.pid)};
    rank.program = &program;
    rank.path = program.words.data();
    if (all) continue;
    tell(base::describe({.cause = "mpiexec cannot wait for rank " + std::to_string(place) + " (pid " +
                                  std::to_string(rank.pid) + ") of a job that it has not started",
                         .error = error,
                         .remedy = "start the program with Weft's mpiexec; this takes Linux 5.3, and all ranks in one "
                                   "namespace of processes"}));
  }
  // A launcher before this one may have started processes in the spare places.
  for (size_t place = static_cast<size_t>(attached_->started); place < ranks_.size(); ++place) {
    const boot::RankStatus& line = boot::status_of(head, static_cast<int>(place));
    if (line.world.load(std::memory_order_acquire) == 0) continue;
    ranks_[place].uses = line.generation.load(std::memory_order_relaxed) + 1;
    last_world_ = std::max(last_world_, line.world.load(std::memory_order_relaxed));
  }
  munmap(head, bytes);
  const std::string socket = service_.name() + "\n";
  return all && !service_.name().empty() &&
         write(attached_->line, socket.data(), socket.size()) == static_cast<ssize_t>(socket.size());
}

void Launch::watch_adopted(std::vector<pollfd>& polled) {
  adopted_polled_.clear();
  if (attached_ == nullptr) return;
  polled.push_back({ranks_[static_cast<size_t>(first_)].alive && !line_ended_ ? attached_->line : -1, POLLIN, 0});
  for (int place = 0; place < attached_->started; ++place) {
    const Rank& rank = ranks_[static_cast<size_t>(place)];
    if (!rank.alive) continue;
    adopted_polled_.push_back(place);
    polled.push_back({rank.process, POLLIN, 0});
  }
}

// `polled` as watch_adopted() left it from `at` on.
void Launch::take_adopted(const std::vector<pollfd>& polled, size_t at) {
  if (attached_ == nullptr) return;
  Rank& first = ranks_[static_cast<size_t>(first_)];
  if (polled[at].revents != 0) {
    char word = 0;
    first.left = read(attached_->line, &word, 1) == 1 && word == boot::attach_left;
    line_ended_ = true;
  }
  std::vector<int> ended;
  for (size_t i = 0; i < adopted_polled_.size(); ++i) {
    const Rank& rank = ranks_[static_cast<size_t>(adopted_polled_[i])];
    if (rank.alive && (polled[at + 1 + i].revents != 0 || rank.left)) ended.push_back(adopted_polled_[i]);
  }
  take_ends(ended);
}

// It leaves the job, and may live on.
void Launch::let_go(Service::Caller caller, int place) {
  Rank& rank = ranks_[static_cast<size_t>(place)];
  if (!rank.adopted) return refuse(caller, "mpiexec sees by itself when a process that it has started leaves");
  service_.answer(caller, boot::Packet().put(int64_t{0}).put(""));
  rank.left = true;
  take_ends({place});
}

void Launch::signal_rank(const Rank& rank, int signal) {
  rank.adopted ? base::signal_process(rank.process, signal) : (void)kill(-rank.pid, signal);
}

}  // namespace weft::mpiexec
