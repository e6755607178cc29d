// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/job.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace weft::tool {

std::string own_folder() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  const std::string text(path, length > 0 ? static_cast<size_t>(length) : 0);
  return text.substr(0, text.rfind('/'));
}

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

bool run(const Words& words, std::string& output, base::Problem& problem, int* exit_status) {
  int ends[2];
  const char* remedy = "see what mpiexec says above; --hosts needs Hydra or prterun (mpiexec --help)";
  if (pipe(ends) != 0) {
    problem = {.cause = "there is no pipe", .error = errno, .remedy = "raise the limit of open files (ulimit -n)"};
    return false;
  }
  const pid_t pid = fork();
  if (pid < 0) {
    problem = {.cause = "mpiexec cannot be started", .error = errno, .remedy = "check ulimit -u"};
    return false;
  }
  if (pid == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    fprintf(stderr, "weft: %s: %s\n", arguments[0], strerror(errno));
    _exit(127);
  }
  close(ends[1]);
  char buffer[4096];
  for (ssize_t bytes = 0; (bytes = read(ends[0], buffer, sizeof buffer)) != 0;) {
    if (bytes > 0) output.append(buffer, static_cast<size_t>(bytes));
    if (bytes < 0 && errno != EINTR) break;
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (exit_status != nullptr) *exit_status = status;
  problem = {.cause = "the measuring job failed (" + words[0] + ", status " + std::to_string(status) + ")",
             .remedy = remedy};
  return false;
}

}  // namespace weft::tool
