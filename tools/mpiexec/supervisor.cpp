// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpiexec/supervisor.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "base/clock.hpp"
#include "base/file.hpp"
#include "base/message.hpp"
#include "base/setting.hpp"
#include "boot/job/mpiexec_settings.hpp"
#include "mpiexec/hang_report_delay.hpp"
#include "mpiexec/launch.hpp"
#include "mpiexec/standstill.hpp"

namespace weft::mpiexec {
namespace {

using base::second;
constexpr uint64_t grace_ns = 5 * second;         // for the launcher to end the job on all hosts
constexpr uint64_t last_answer_ns = 10 * second;  // for the hosts to answer at the end of the job's time
constexpr uint64_t answer_ns = 600 * second;      // else: there may be many hosts

void tell(const std::string& text) {
  fprintf(stderr, "weft: mpiexec: %s\n", text.c_str());
}

[[noreturn]] void become_launcher(const std::vector<std::string>& words, Environment& environment) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execve(arguments[0], arguments.data(), environment.pointers().data());
  const int error = errno;
  tell(base::describe({.cause = "cannot start " + base::quoted(words[0]),
                       .error = error,
                       .remedy = "check that it is a program for this machine (WEFT_REMOTE_LAUNCHER names another)"}));
  _exit(error == ENOENT ? status_not_found : status_not_started);
}

// The program `weft` beside this one.
std::string weft_program() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  const std::string own(path, length > 0 ? static_cast<size_t>(length) : 0);
  return own.substr(0, own.rfind('/') + 1) + "weft";
}

// The bytes that a process has written so far, with the output of the ranks among them; 0: not known.
uint64_t written_by(pid_t pid) {
  constexpr std::string_view name = "wchar: ";
  constexpr size_t most = 4096;
  std::string text;
  if (base::read_file("/proc/" + std::to_string(pid) + "/io", text, most) != 0) return 0;
  const size_t at = text.find(name);
  uint64_t bytes = 0;
  if (at != std::string::npos) std::from_chars(text.data() + at + name.size(), text.data() + text.size(), bytes);
  return bytes;
}

// `weft why` on the hosts of the job, in a process group of its own with the launchers that it starts.
class Question {
 public:
  Question() = default;
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;
  ~Question() { end(); }

  // False when it cannot be asked.
  bool ask(const RemoteJob& job, const sigset_t& mask, uint64_t until_ns) {
    end();
    answer_ = memfd_create("weft-answer", MFD_CLOEXEC);
    pid_ = answer_ < 0 ? -1 : fork();
    if (pid_ == 0) become_question(job, mask);
    until_ns_ = until_ns;
    if (pid_ > 0) setpgid(pid_, pid_);
    return pid_ > 0;
  }

  [[nodiscard]] bool is_asked() const { return pid_ > 0; }
  [[nodiscard]] uint64_t until() const { return until_ns_; }

  // Whether there is an answer, or will be none.
  bool is_over(uint64_t now_ns) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      kill(-pid_, SIGKILL);
      pid_ = -1;
      certain_ = WIFEXITED(status) && WEXITSTATUS(status) == 1;
      return true;
    }
    if (now_ns < until_ns_) return false;
    certain_ = false;
    return true;
  }

  // The job will not go on by itself.
  [[nodiscard]] bool is_certain() const { return certain_; }

  void tell_answer() const {
    std::string line;
    char buffer[4096];
    lseek(answer_, 0, SEEK_SET);
    for (ssize_t bytes = 0; (bytes = read(answer_, buffer, sizeof buffer)) > 0;) {
      for (const char c : std::string_view(buffer, static_cast<size_t>(bytes))) {
        if (c != '\n') {
          line += c;
          continue;
        }
        tell(line);
        line.clear();
      }
    }
  }

  void end() {
    if (pid_ > 0) {
      kill(-pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    if (answer_ >= 0) close(answer_);
    pid_ = answer_ = -1;
  }

 private:
  [[noreturn]] void become_question(const RemoteJob& job, const sigset_t& mask) const {
    const std::string weft = weft_program();
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(null, STDIN_FILENO);
    dup2(answer_, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    execl(weft.c_str(), "weft", "why", "--hosts", job.hosts.c_str(), job.name.c_str(), static_cast<char*>(nullptr));
    _exit(status_not_found);
  }

  pid_t pid_ = -1;
  int answer_ = -1;
  uint64_t until_ns_ = 0;
  bool certain_ = false;
};

// Signals from the terminal reach the launcher without us; others are passed on.
class Supervisor {
 public:
  explicit Supervisor(const RemoteJob& job)
      : job_(job), hang_report_(boot::hang_report_seconds() * second, base::now_ns()) {
    signal(SIGCHLD, SIG_DFL);  // our parent may have had it ignored: then there were no status to wait for
    sigemptyset(&signals_);
    for (int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) sigaddset(&signals_, signal);
    sigprocmask(SIG_BLOCK, &signals_, &old_mask_);
  }

  int run(const std::vector<std::string>& words, Environment& environment, int64_t timeout_us) {
    const pid_t parent = getpid();
    launcher_ = fork();
    if (launcher_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGTERM);
      if (getppid() != parent) _exit(status_not_started);
      sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
      become_launcher(words, environment);
    }
    if (launcher_ < 0) {
      tell(base::describe(
          {.cause = "cannot start " + base::quoted(words[0]), .error = errno, .remedy = "check ulimit -u"}));
      return status_not_started;
    }
    const uint64_t end_ns = timeout_us == 0 ? UINT64_MAX : base::now_ns() + static_cast<uint64_t>(timeout_us) * 1000;
    while (!has_ended()) {
      const uint64_t now = base::now_ns();
      if (now >= end_ns) {
        end_late(timeout_us);
        return status_timeout;
      }
      look(now);
      wait_until(std::min(end_ns, question_.is_asked() ? question_.until() : hang_report_.due()));
    }
    return status_;
  }

 private:
  bool has_ended() {
    int status = 0;
    if (waitpid(launcher_, &status, WNOHANG) != launcher_) return false;
    status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return true;
  }

  void look(uint64_t now) {
    if (question_.is_asked()) {
      if (!question_.is_over(now)) return;
      if (question_.is_certain()) {
        tell(hang_sentence);
        question_.tell_answer();
        hang_report_.end();
      }
      question_.end();
    }
    if (now >= hang_report_.due() && hang_report_.is_over(written_by(launcher_), now)) {
      (void)question_.ask(job_, old_mask_, now + answer_ns);
    }
  }

  void end_late(int64_t timeout_us) {
    char seconds[32];
    snprintf(seconds, sizeof seconds, "%g", static_cast<double>(timeout_us) / 1e6);
    tell(std::string("the job did not end within ") + seconds + " s (--timeout); the job is ended");
    if (question_.ask(job_, old_mask_, base::now_ns() + last_answer_ns)) {
      while (!question_.is_over(base::now_ns())) wait_until(question_.until());
      question_.tell_answer();
      question_.end();
    }
    kill(launcher_, SIGTERM);
    const uint64_t kill_ns = base::now_ns() + grace_ns;
    while (!has_ended()) {
      if (base::now_ns() >= kill_ns) kill(launcher_, SIGKILL);
      wait_until(std::max(kill_ns, base::now_ns() + second));
    }
  }

  // Until a process has ended, at the latest.
  void wait_until(uint64_t end_ns) {
    const uint64_t now = base::now_ns();
    const uint64_t rest_ns = std::min(end_ns > now ? end_ns - now : 0, 3600 * second);
    const timespec rest{static_cast<time_t>(rest_ns / second), static_cast<long>(rest_ns % second)};
    siginfo_t info{};
    const int signal = sigtimedwait(&signals_, &info, &rest);
    if (signal > 0 && signal != SIGCHLD && info.si_code <= 0) kill(launcher_, signal);
  }

  RemoteJob job_;
  HangReportDelay hang_report_;
  Question question_;
  sigset_t signals_{};
  sigset_t old_mask_{};
  pid_t launcher_ = -1;
  int status_ = 0;
};

}  // namespace

int supervise(const std::vector<std::string>& words, Environment& environment, int64_t timeout_us,
              const RemoteJob& job) {
  if (timeout_us == 0 && boot::hang_report_seconds() == 0) become_launcher(words, environment);
  return Supervisor(job).run(words, environment, timeout_us);
}

}  // namespace weft::mpiexec
