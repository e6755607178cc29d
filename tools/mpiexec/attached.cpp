// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpiexec/attached.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/message.hpp"
#include "base/setting.hpp"
#include "boot/environment.hpp"
#include "boot/own_launcher.hpp"
#include "boot/segment.hpp"
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
  if (words.size() != 3 || !read_number(words[1], INT32_MAX, pid) ||
      !read_number(words[2], boot::most_ranks, attached.places) || pid != getppid() ||
      !boot::is_segment(boot::attach_segment) || fcntl(boot::attach_line, F_GETFD) < 0) {
    base::tell({.cause = std::string("mpiexec ") + boot::attach_option + " is for processes that Weft runs in",
                .remedy = "see mpiexec --help"});
    return false;
  }
  attached.pid = pid;
  attached.segment = boot::attach_segment;
  attached.line = boot::attach_line;
  attached.name = name_of(pid);
  attached.process = boot::open_process(pid);
  if (attached.process >= 0 && getppid() == pid) return true;
  base::tell({.cause = "mpiexec cannot wait for process " + std::to_string(pid),
              .error = errno,
              .remedy = "start the program with mpiexec -n 1; without it, this takes Linux 5.3 and pidfd_open"});
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
  close_range(process + 1, ~0u, 0);
  unsetenv("WEFT_LAUNCHER");  // "singleton" is meant for the process, not for those that it spawns
  Command command;
  command.quiet = true;
  command.binding.binding = topo::Binding::none;
  command.programs.emplace_back().words = {attached.name};
  return run_behind_front([&] { return Launch(command, &attached).run(); }, attached.process);
}

// ---- The part of Launch that has not started its rank itself

bool Launch::adopt() {
  paths_.push_back(attached_->name);
  Rank& rank = ranks_.front();
  rank.program = &command_.programs.front();
  rank.path = &paths_.front();
  rank.pid = attached_->pid;
  rank.adopted = rank.alive = true;
  ++alive_;
  const std::string door = service_.name() + "\n";
  return !service_.name().empty() &&
         write(attached_->line, door.data(), door.size()) == static_cast<ssize_t>(door.size());
}

void Launch::watch_adopted(std::vector<pollfd>& polled) const {
  const bool watched = attached_ != nullptr && ranks_.front().alive;
  polled.push_back({watched ? attached_->process : -1, POLLIN, 0});
  polled.push_back({watched && !line_ended_ ? attached_->line : -1, POLLIN, 0});
}

// `polled` as watch_adopted() left it from `at` on.
void Launch::take_adopted(const std::vector<pollfd>& polled, size_t at) {
  if (polled[at].revents == 0 && polled[at + 1].revents == 0) return;
  char word = 0;
  if (polled[at + 1].revents != 0) {
    const bool said = read(attached_->line, &word, 1) == 1 && word == boot::attach_left;
    line_ended_ = true;
    ranks_.front().left = said;
  }
  if (polled[at].revents != 0 || ranks_.front().left) take_ends({0});
}

void Launch::signal_rank(const Rank& rank, int signal) const {
  rank.adopted ? boot::signal_process(attached_->process, signal) : (void)kill(-rank.pid, signal);
}

}  // namespace weft::mpiexec
