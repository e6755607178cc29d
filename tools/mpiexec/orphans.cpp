// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpiexec/orphans.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
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
std::vector<pid_t> scan_for_children(pid_t process) {
  std::vector<pid_t> found;
  DIR* proc = opendir("/proc");
  if (!proc) return found;
  while (dirent* entry = readdir(proc)) {
    char* end = nullptr;
    long pid = strtol(entry->d_name, &end, 10);
    if (pid > 0 && *end == 0 && parent_of(entry->d_name) == process) found.push_back(static_cast<pid_t>(pid));
  }
  closedir(proc);
  return found;
}

}  // namespace

std::vector<pid_t> own_children() {
  return children_of(getpid());
}

std::vector<pid_t> children_of(pid_t process) {
  static const bool listed = access("/proc/thread-self/children", R_OK) == 0;
  if (!listed) return scan_for_children(process);
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", process, process);
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

}  // namespace weft::mpiexec
