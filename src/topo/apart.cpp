// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "topo/apart.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace weft::topo {
namespace {

bool write_all(int fd, const void* data, size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = write(fd, at, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    bytes -= static_cast<size_t>(n);
  }
  return true;
}

std::string read_all(int fd) {
  std::string all;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(fd, buffer, sizeof buffer)) != 0;) {
    if (n > 0) all.append(buffer, static_cast<size_t>(n));
    if (n < 0 && errno != EINTR) break;
  }
  return all;
}

void prepare_child(unsigned seconds) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  for (const int deadly : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM}) signal(deadly, SIG_DFL);
  sigset_t all;
  sigemptyset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  alarm(seconds);
}

}  // namespace

void Facts::put_list(const std::vector<int>& list) {
  put(static_cast<int64_t>(list.size()));
  for (const int number : list) put(number);
}

std::vector<int> Facts::take_list() {
  std::vector<int> list;
  for (int64_t left = take(); left > 0 && next_ < numbers_.size(); --left) list.push_back(static_cast<int>(take()));
  return list;
}

std::string find_apart(const std::function<void(Facts&)>& find, Facts& facts, unsigned seconds) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return strerror(errno);
  const pid_t child = fork();
  if (child < 0) {
    const int error = errno;
    close(ends[0]);
    close(ends[1]);
    return strerror(error);
  }
  if (child == 0) {
    prepare_child(seconds);
    find(facts);
    const auto count = static_cast<int64_t>(facts.numbers_.size());
    const bool written = write_all(ends[1], &count, sizeof count) &&
                         write_all(ends[1], facts.numbers_.data(), facts.numbers_.size() * sizeof(int64_t));
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  const std::string all = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  int64_t count = -1;
  if (all.size() >= sizeof count) memcpy(&count, all.data(), sizeof count);  // the memory is private to this process
  if (count < 0 || all.size() != sizeof count * (1 + static_cast<size_t>(count))) {
    if (!WIFSIGNALED(status)) return "hwloc ended early";
    if (WTERMSIG(status) == SIGALRM) return "hwloc was not done with it after " + std::to_string(seconds) + " s";
    return std::string("hwloc crashed (") + strsignal(WTERMSIG(status)) + ")";
  }
  facts.numbers_.resize(static_cast<size_t>(count));
  // the memory is private to this process
  if (count > 0) memcpy(facts.numbers_.data(), all.data() + sizeof count, all.size() - sizeof count);
  return {};
}

}  // namespace weft::topo
