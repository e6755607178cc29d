// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpiexec/handover.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <iterator>

#include "base/clock.hpp"
#include "base/message.hpp"
#include "base/setting.hpp"
#include "boot/remote.hpp"
#include "mpiexec/process.hpp"

namespace weft::mpiexec {
namespace {

using Words = std::vector<std::string>;

constexpr int status_mistake = 2;
constexpr int status_not_found = 127;
constexpr int status_not_started = 126;
constexpr int status_timeout = 124;
constexpr uint64_t grace_ns = 5'000'000'000;  // for the launcher to end the job on all hosts

void tell(const base::Problem& problem) {
  fprintf(stderr, "weft: mpiexec: %s\n", base::describe(problem).c_str());
}

// The file itself: "mpiexec" may be a link to mpiexec.hydra.
std::string resolved(const std::string& path) {
  char* real = realpath(path.c_str(), nullptr);
  std::string out = real ? real : path;
  free(real);
  return out;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
}

bool tell_kind(const std::string& path, Remote& kind) {
  for (const std::string& file : {path, resolved(path)}) {
    const std::string name = file.substr(file.rfind('/') + 1);
    kind = name.find("hydra") != std::string::npos ? Remote::hydra : Remote::prterun;
    if (kind == Remote::hydra || name.find("prterun") != std::string::npos) return true;
  }
  return false;
}

void add(Words& words, std::initializer_list<std::string> more) {
  words.insert(words.end(), more.begin(), more.end());
}

// Threads that were asked for, with a core each.
bool binds_threads(const Command& command) {
  return command.threads_asked && topo::is_by_core(command.binding.binding);
}

const char* binding_of(const Command& command) {
  switch (command.binding.binding) {
    case topo::Binding::core:
    case topo::Binding::pack:
      return "core";
    case topo::Binding::numa:
      return "numa";
    default:
      return "none";
  }
}

// Settings for which a launcher has no option, or only one for all programs, go through env.
void add_env(Words& words, const Program& program, bool with_folder, bool with_variables) {
  const bool folder = with_folder && !program.folder.empty();
  const bool variables = with_variables && !program.variables.empty();
  if (!folder && !variables) return;
  words.emplace_back("env");
  if (folder) words.push_back("--chdir=" + program.folder);
  if (!variables) return;
  for (const Variable& v : program.variables) words.push_back(v.first + "=" + v.second);
}

// The hosts in a file without a name, which lasts as long as it is open. Intel's Hydra takes numbers of ranks from
// nowhere else. -1 and errno when there can be none.
int make_hosts_file(const std::vector<Host>& hosts) {
  std::string text;
  for (const Host& host : hosts) text += host.name + ":" + std::to_string(host.ranks) + "\n";
  const int fd = memfd_create("weft-hosts", 0);
  if (fd < 0) return fd;
  if (write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) return -1;
  return fd;
}

Words hydra_words(const Command& command, const RemoteLauncher& launcher) {
  Words words{launcher.path};
  if (!launcher.shell.empty()) add(words, {"-launcher", "ssh", "-launcher-exec", launcher.shell});
  add(words, {"-machinefile", launcher.hosts_file});
  if (command.tag_output) words.emplace_back("-prepend-rank");
  if (binds_threads(command)) {
    add(words, {"-bind-to", "core:" + std::to_string(command.binding.threads)});
  } else if (command.binding_asked) {
    add(words, {"-bind-to", binding_of(command)});
  }
  for (const Variable& v : command.variables) add(words, {"-genv", v.first, v.second});
  bool first = true;
  for (const Program& program : command.programs) {
    if (!first) words.emplace_back(":");
    first = false;
    add(words, {"-n", std::to_string(program.ranks)});
    for (const Variable& v : program.variables) add(words, {"-env", v.first, v.second});
    add_env(words, program, true, false);
    words.insert(words.end(), program.words.begin(), program.words.end());
  }
  return words;
}

// Variables of this host or this shell alone, variables of the launcher itself, and names that options cannot hold,
// such as those of functions that shells export.
bool stays_here(const std::string& name) {
  constexpr const char* names[] = {"_", "HOSTNAME", "OLDPWD", "PWD", "SHLVL"};
  constexpr const char* beginnings[] = {"PMIX_", "PRTE_", "SSH_"};
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  return !plain || std::any_of(std::begin(names), std::end(names), [&](const char* n) { return name == n; }) ||
         std::any_of(std::begin(beginnings), std::end(beginnings), [&](const char* b) { return name.starts_with(b); });
}

// prterun passes on nothing by itself. Each variable is named once, as it does not take two values for one.
Words exports(const Command& command, const Words& inherited) {
  constexpr const char* library_path = "LD_LIBRARY_PATH";
  Words words;
  const auto given = [&command](const std::string& name) {
    return std::any_of(command.variables.begin(), command.variables.end(),
                       [&name](const Variable& v) { return v.first == name; });
  };
  for (const std::string& name : inherited) {
    if (!stays_here(name) && !given(name) && name != library_path) add(words, {"-x", name});
  }
  // prterun puts folders of its own in front of it on other hosts, where ranks might find another MPI.
  if (!given(library_path)) {
    const char* folders = getenv(library_path);
    add(words, {"-x", std::string(library_path) + "=" + (folders ? folders : "")});
  }
  for (const Variable& v : command.variables) add(words, {"-x", v.first + "=" + v.second});
  return words;
}

Words prterun_words(const Command& command, const RemoteLauncher& launcher, const Words& inherited) {
  // Without its prefix a PRRTE that was moved looks for its daemon where it was built for.
  Words words{launcher.path, "--prefix", folder_of(folder_of(resolved(launcher.path)))};
  if (!launcher.shell.empty()) add(words, {"--prtemca", "plm_ssh_agent", launcher.shell});
  add(words, {"--host", listed(command.hosts)});
  if (command.tag_output) add(words, {"--output", "tag"});
  if (binds_threads(command)) add(words, {"--map-by", "slot:PE=" + std::to_string(command.binding.threads)});
  add(words, {"--bind-to", command.binding_asked || binds_threads(command) ? binding_of(command) : "none"});
  const Words exported = exports(command, inherited);
  bool first = true;
  for (const Program& program : command.programs) {
    if (!first) words.emplace_back(":");
    first = false;
    add(words, {"-n", std::to_string(program.ranks)});
    if (!program.folder.empty()) add(words, {"--wdir", program.folder});
    // A variable that one program exports may reach the others too, so -x is for variables that all have alike.
    words.insert(words.end(), exported.begin(), exported.end());
    add_env(words, program, false, true);
    words.insert(words.end(), program.words.begin(), program.words.end());
  }
  return words;
}

// Variables for OpenMP that no one has given yet, for all programs.
void add_openmp(Command& job) {
  const topo::Places places = binds_threads(job) ? topo::Places::cores : topo::Places::unsaid;
  std::vector<Variable> added = openmp_variables(job, job.programs[0], places);
  std::erase_if(added, [&job](const Variable& v) {
    return std::any_of(job.programs.begin(), job.programs.end(),
                       [&](const Program& program) { return job.variable(program, v.first) != nullptr; });
  });
  job.variables.insert(job.variables.end(), added.begin(), added.end());
}

// "a,b"
std::string names_of(const std::vector<Host>& hosts) {
  std::string names;
  for (const Host& host : hosts) names.append(names.empty() ? "" : ",").append(host.name);
  return names;
}

[[noreturn]] void become_launcher(const Words& words, Environment& environment) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execve(arguments[0], arguments.data(), environment.pointers().data());
  tell({.cause = "cannot start " + base::quoted(words[0]),
        .error = errno,
        .remedy = "check that it is a program for this machine (WEFT_REMOTE_LAUNCHER names another)"});
  _exit(errno == ENOENT ? status_not_found : status_not_started);
}

// Waits for the launcher until the time is over. Signals from the terminal reach it without us; others are passed on.
class Supervisor {
 public:
  Supervisor() {
    signal(SIGCHLD, SIG_DFL);  // who started us may have had it ignored: then there were no status to wait for
    sigemptyset(&signals_);
    for (int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) sigaddset(&signals_, signal);
    sigprocmask(SIG_BLOCK, &signals_, &old_mask_);
  }

  int run(const Words& words, Environment& environment, int64_t timeout_us, const std::string& hosts) {
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGTERM);
      if (getppid() != parent) _exit(status_not_started);
      sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
      become_launcher(words, environment);
    }
    if (pid_ < 0) {
      tell({.cause = "cannot start " + base::quoted(words[0]), .error = errno, .remedy = "check ulimit -u"});
      return status_not_started;
    }
    const auto timeout_ns = static_cast<uint64_t>(timeout_us) * 1000;
    int status = 0;
    if (wait_until(pid_, base::now_ns() + timeout_ns, status)) return status;
    char seconds[32];
    snprintf(seconds, sizeof seconds, "%g", static_cast<double>(timeout_us) / 1e6);
    fprintf(stderr, "weft: mpiexec: the job did not end within %s s (--timeout); the job is ended\n", seconds);
    say_why(hosts);
    kill(pid_, SIGTERM);
    if (!wait_until(pid_, base::now_ns() + grace_ns, status)) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    return status_timeout;
  }

 private:
  // Asks `weft why` on the hosts for the messages that ranks wait for, and prints its answer, if there is one in time.
  void say_why(const std::string& hosts) {
    const std::string weft = folder_of(resolved("/proc/self/exe")) + "/weft";
    const std::string job = std::to_string(getpid());
    const pid_t asks = fork();
    if (asks == 0) {
      setpgid(0, 0);
      sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
      const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
      dup2(STDERR_FILENO, STDOUT_FILENO);
      dup2(null, STDIN_FILENO);
      dup2(null, STDERR_FILENO);
      unsetenv("MPIEXEC_TIMEOUT");  // the answers have a time of their own
      execl(weft.c_str(), "weft", "why", "--hosts", hosts.c_str(), job.c_str(), static_cast<char*>(nullptr));
      _exit(status_not_found);
    }
    if (asks < 0) return;
    setpgid(asks, asks);
    constexpr uint64_t at_most_ns = 10'000'000'000;
    int status = 0;
    const bool ended = wait_until(asks, base::now_ns() + at_most_ns, status);
    kill(-asks, SIGKILL);  // the launcher that it has started too
    if (!ended) waitpid(asks, nullptr, 0);
  }

  // False when the process has not ended by then.
  bool wait_until(pid_t pid, uint64_t end_ns, int& status) {
    for (;;) {
      int wait_status = 0;
      if (waitpid(pid, &wait_status, WNOHANG) == pid) {
        status = WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
        return true;
      }
      const uint64_t now = base::now_ns();
      if (now >= end_ns) return false;
      constexpr uint64_t second = 1'000'000'000;
      const timespec rest{static_cast<time_t>((end_ns - now) / second), static_cast<long>((end_ns - now) % second)};
      siginfo_t info{};
      const int signal = sigtimedwait(&signals_, &info, &rest);
      if (signal > 0 && signal != SIGCHLD && info.si_code <= 0) kill(pid_, signal);
    }
  }

  sigset_t signals_{};
  sigset_t old_mask_{};
  pid_t pid_ = -1;
};

}  // namespace

std::string find_remote_launcher(const std::string& wanted, RemoteLauncher& launcher) {
  if (!wanted.empty()) {
    launcher.path = find_program(wanted, "");
    if (launcher.path.empty()) return "WEFT_REMOTE_LAUNCHER=" + wanted + " is no program that can be started";
    if (tell_kind(launcher.path, launcher.kind)) return {};
    return "WEFT_REMOTE_LAUNCHER=" + wanted + " is neither mpiexec.hydra nor prterun";
  }
  for (const char* name : {"mpiexec.hydra", "prterun"}) {
    launcher.path = find_program(name, "");
    if (!launcher.path.empty() && tell_kind(launcher.path, launcher.kind)) return {};
  }
  return "there is neither mpiexec.hydra nor prterun in PATH";
}

Words translate(const Command& command, const RemoteLauncher& launcher, const Words& inherited) {
  return launcher.kind == Remote::hydra ? hydra_words(command, launcher) : prterun_words(command, launcher, inherited);
}

int hand_over(const Command& command) {
  base::load_known_settings();
  Command job = command;
  if (const std::string wrong = spread(job.hosts, job.ranks(), job.oversubscribe); !wrong.empty()) {
    tell({.cause = wrong});
    return status_mistake;
  }
  if (job.binding.binding == topo::Binding::list) {
    tell({.cause = "--bind with a list of processors is for ranks on this host alone",
          .remedy = "use --bind core, numa or none"});
    return status_mistake;
  }
  if (job.show_layout) {
    tell({.cause = "--show-layout knows this host alone, and ranks start on others (" + listed(job.hosts) + ")",
          .remedy = "leave it out, or use it without -hosts, and with --machine for another machine"});
    return status_mistake;
  }
  if (job.threads_asked) add_openmp(job);
  if (job.binding.reserve > 0) job.variables.emplace_back("WEFT_RESERVE_CORES", std::to_string(job.binding.reserve));
  RemoteLauncher launcher;
  if (const std::string wrong = find_remote_launcher(boot::remote_launcher(), launcher); !wrong.empty()) {
    tell({.cause = "cannot start ranks on other hosts (" + listed(job.hosts) + "): " + wrong,
          .remedy =
              "install Hydra (Debian: apt-get install mpich) or PRRTE (apt-get install prrte), or name the program "
              "with WEFT_REMOTE_LAUNCHER; without -hosts all ranks start here"});
    return status_not_found;
  }
  if (launcher.kind == Remote::hydra) {
    const int fd = make_hosts_file(job.hosts);
    if (fd < 0) {
      tell({.cause = "cannot write the hosts down for Hydra", .error = errno, .remedy = "check ulimit -n"});
      return status_not_started;
    }
    launcher.hosts_file = "/proc/self/fd/" + std::to_string(fd);
  }
  launcher.shell = boot::remote_shell();
  Environment environment;
  const Words words = translate(job, launcher, environment.all_names());
  if (job.timeout_us == 0) become_launcher(words, environment);
  return Supervisor().run(words, environment, job.timeout_us, names_of(job.hosts));
}

}  // namespace weft::mpiexec
