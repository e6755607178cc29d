// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpiexec/process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "boot/job/environment.hpp"
#include "stats/area.hpp"

namespace weft::mpiexec {
namespace {

// Variables from launchers above us do not hold for our ranks.
constexpr const char* dropped[] = {
    boot::variable::rank,
    boot::variable::size,
    boot::variable::segment_fd,
    boot::variable::segment_address,
    boot::variable::job_id,
    boot::variable::app_number,
    boot::variable::universe_size,
    boot::variable::local_ranks,
    boot::variable::local_cpus,
    boot::variable::rank_cpus,
    boot::variable::service_cpus,
    boot::variable::places,
    boot::variable::service,
    boot::variable::spawned,
    stats::descriptor_variable,
    "PMI_FD",
    "PMI_PORT",
    "PMI_ID",
    "PMI_RANK",
    "PMI_SIZE",
    "PMIX_NAMESPACE",
    "PMIX_RANK",
};

// Programs and scripts learn their rank by these before MPI starts. PMI_RANK and PMIX_RANK are not among them:
// libraries take these for a launcher's that they can speak to.
struct KnownVariable {
  const char* name;
  int RankFacts::*value;
};
constexpr KnownVariable known_variables[] = {
    {"OMPI_COMM_WORLD_RANK", &RankFacts::rank},
    {"OMPI_COMM_WORLD_SIZE", &RankFacts::size},
    {"OMPI_COMM_WORLD_LOCAL_RANK", &RankFacts::rank},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", &RankFacts::size},
    {"OMPI_COMM_WORLD_NODE_RANK", &RankFacts::rank},
    {"OMPI_UNIVERSE_SIZE", &RankFacts::universe},
    {"MPI_LOCALRANKID", &RankFacts::rank},
    {"MPI_LOCALNRANKS", &RankFacts::size},
    {"MV2_COMM_WORLD_LOCAL_RANK", &RankFacts::rank},
};

bool names(const char* entry, const char* name) {
  size_t length = strlen(name);
  return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

[[noreturn]] void give_up(const Start& start, StartFailure::Step step) {
  int error = errno;
  StartFailure failure{start.rank, step, error};
  (void)!write(start.failure_fd, &failure, sizeof failure);
  _exit(step == StartFailure::exec && error == ENOENT ? 127 : 126);
}

// Between fork and exec, only calls that are safe there.
[[noreturn]] void become_rank(const Start& start, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(126);  // it died before we asked to be told
  dup2(start.in, STDIN_FILENO);
  dup2(start.out, STDOUT_FILENO);
  dup2(start.err, STDERR_FILENO);
  setrlimit(RLIMIT_NOFILE, &start.files);
  if (start.folder && chdir(start.folder) != 0) give_up(start, StartFailure::folder);
  if (!start.processors.empty() &&
      syscall(SYS_sched_setaffinity, 0, base::CpuSet::bytes, start.processors.data()) != 0) {
    give_up(start, StartFailure::bind);
  }
  signal(SIGPIPE, SIG_DFL);
  sigprocmask(SIG_SETMASK, &start.signals, nullptr);
  execve(start.path, start.arguments, start.environment);
  if (errno == ENOEXEC) {
    // A script without "#!", which shells and execvp run with sh.
    size_t count = 0;
    while (start.arguments[count]) ++count;
    char shell[] = "/bin/sh";
    auto** words = static_cast<char**>(alloca((count + 2) * sizeof(char*)));
    words[0] = shell;
    words[1] = const_cast<char*>(start.path);
    for (size_t i = 1; i <= count; ++i) words[i + 1] = start.arguments[i];
    execve(shell, words, start.environment);
  }
  give_up(start, StartFailure::exec);
}

}  // namespace

Environment::Environment() {
  for (char** entry = environ; entry && *entry; ++entry) {
    bool keep = true;
    for (const char* name : dropped) keep = keep && !names(*entry, name);
    for (const KnownVariable& one : known_variables) keep = keep && !names(*entry, one.name);
    if (keep) entries_.emplace_back(*entry);
  }
}

void Environment::set(const std::string& name, const std::string& value) {
  for (std::string& entry : entries_) {
    if (names(entry.c_str(), name.c_str())) {
      entry = name;
      entry += '=';
      entry += value;
      return;
    }
  }
  entries_.push_back(name + "=" + value);
}

void Environment::set_known(const RankFacts& facts) {
  for (const KnownVariable& one : known_variables) set(one.name, std::to_string(facts.*one.value));
}

std::vector<std::string> Environment::all_names() const {
  std::vector<std::string> out;
  out.reserve(entries_.size());
  for (const std::string& entry : entries_) out.push_back(entry.substr(0, entry.find('=')));
  return out;
}

std::vector<char*> Environment::pointers() {
  std::vector<char*> out;
  out.reserve(entries_.size() + 1);
  for (std::string& entry : entries_) out.push_back(entry.data());
  out.push_back(nullptr);
  return out;
}

pid_t start_rank(const Start& start) {
  pid_t parent = getpid();
  pid_t pid = fork();
  if (pid == 0) become_rank(start, parent);
  if (pid > 0) setpgid(pid, pid);  // in both, so that the group is there for whoever comes first
  return pid;
}

}  // namespace weft::mpiexec
