// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpiexec/orphans.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace weft::mpiexec {
namespace {

std::string read_all(const char* path) {
  std::string text;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  char buffer[4096];
  for (ssize_t n; (n = read(fd, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(n));
  close(fd);
  return text;
}

pid_t parent_of(const char* pid) {
  std::string text = read_all((std::string("/proc/") + pid + "/stat").c_str());
  size_t name_end = text.rfind(')');  // the name before it may contain anything
  int parent = 0;
  if (name_end == std::string::npos || sscanf(text.c_str() + name_end + 1, " %*c %d", &parent) != 1) return 0;
  return parent;
}

// For kernels without the list of children.
std::vector<pid_t> scan_for_children() {
  std::vector<pid_t> found;
  DIR* proc = opendir("/proc");
  if (!proc) return found;
  pid_t self = getpid();
  while (dirent* entry = readdir(proc)) {
    char* end = nullptr;
    long pid = strtol(entry->d_name, &end, 10);
    if (pid > 0 && *end == 0 && parent_of(entry->d_name) == self) found.push_back(static_cast<pid_t>(pid));
  }
  closedir(proc);
  return found;
}

[[noreturn]] void keep(int pipe, const std::atomic<pid_t>* groups, int count) {
  setsid();
  prctl(PR_SET_NAME, "mpiexec-keeper");
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  if (dup2(pipe, 3) < 0) _exit(1);
  close(0);
  close(1);
  close(2);
  close_range(4, ~0u, 0);
  (void)!chdir("/");
  char byte;
  while (read(3, &byte, 1) < 0 && errno == EINTR) {
  }
  for (int i = 0; i < count; ++i) {
    pid_t group = groups[i].load(std::memory_order_acquire);
    if (group > 1) kill(-group, SIGKILL);
  }
  _exit(0);
}

}  // namespace

std::vector<pid_t> own_children() {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
  if (access(path, R_OK) != 0) return scan_for_children();
  std::vector<pid_t> found;
  std::string text = read_all(path);
  for (char* at = text.data(); *at;) {
    char* end = nullptr;
    long pid = strtol(at, &end, 10);
    if (end == at) break;
    if (pid > 0) found.push_back(static_cast<pid_t>(pid));
    at = end;
  }
  return found;
}

bool Keeper::start(int groups) {
  size_t bytes = static_cast<size_t>(groups) * sizeof(std::atomic<pid_t>);
  void* shared = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int ends[2];
  if (shared == MAP_FAILED) return false;
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  groups_ = static_cast<std::atomic<pid_t>*>(shared);
  count_ = groups;
  pid_ = fork();
  if (pid_ == 0) {
    close(ends[1]);
    keep(ends[0], groups_, count_);
  }
  close(ends[0]);
  pipe_ = ends[1];
  return pid_ > 0;
}

void Keeper::dismiss() {
  if (pid_ <= 0) return;
  for (int i = 0; i < count_; ++i) note(i, 0);
  close(pipe_);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

}  // namespace weft::mpiexec
