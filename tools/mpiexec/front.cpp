// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpiexec/front.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "base/descriptor.hpp"
#include "base/process.hpp"
#include "boot/job/segment.hpp"
#include "mpiexec/orphans.hpp"

namespace weft::mpiexec {
namespace {

// A terminal sends its signals to both processes.
bool only_we_have(const siginfo_t& signal) {
  return signal.si_code <= 0;
}

// Processes of a job whose own process was killed: each one killed may leave others to us. The list of children may
// miss some while others end, so it is read again and again.
void end_all_children() {
  constexpr timespec shortly{0, 1'000'000};
  for (;;) {
    for (const pid_t pid : own_children()) kill(pid, SIGKILL);
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    if (errno == ECHILD) return;
    nanosleep(&shortly, nullptr);
  }
}

constinit pid_t front_of_this = 0;  // in the job's process

}  // namespace

void signal_front(int signal) {
  if (front_of_this > 0 && getppid() == front_of_this) kill(front_of_this, signal);
}

int run_behind_front(const std::function<int()>& job, int adopted) {
  sigset_t set, before;
  sigemptyset(&set);
  for (const int signal : watched_signals) sigaddset(&set, signal);
  sigprocmask(SIG_BLOCK, &set, &before);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t front = getpid(), inner = fork();
  if (inner <= 0) {
    prctl(PR_SET_PDEATHSIG, front_is_gone);
    if (inner == 0 && getppid() != front) _exit(128 + SIGKILL);
    if (inner == 0) front_of_this = front;
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return job();  // without a front, where there can be no further process
  }
  // Pipes end when the job's process closes them.
  for (int fd = 0; fd <= 2; ++fd) {
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0 && null != fd) dup2(null, fd);
    if (null > 2) close(null);
  }
  constexpr int lowest = 3;
  const int kept = adopted < 0 ? -1 : dup2(adopted, lowest);
  base::close_from(kept < 0 ? lowest : lowest + 1);
  for (int status = 0;;) {
    siginfo_t signal;
    if (sigwaitinfo(&set, &signal) < 0) continue;
    if (signal.si_signo == SIGCHLD) {
      if (waitpid(inner, &status, WNOHANG) != inner) continue;
      if (WIFEXITED(status)) return WEXITSTATUS(status);
      end_all_children();
      if (kept >= 0) base::signal_process(kept, SIGKILL);
      return 128 + WTERMSIG(status);
    }
    if (only_we_have(signal) && signal.si_pid != inner && signal.si_signo != SIGPIPE) kill(inner, signal.si_signo);
  }
}

}  // namespace weft::mpiexec
