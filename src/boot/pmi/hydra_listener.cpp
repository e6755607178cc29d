// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/pmi/hydra_listener.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/setting.hpp"

namespace weft::boot {
namespace {

// The port of "--control-port HOST:PORT" among the words that our parent was started with; 0: none.
int control_port() {
  const int fd = open(("/proc/" + std::to_string(getppid()) + "/cmdline").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char words[4096];
  const ssize_t bytes = read(fd, words, sizeof words);
  close(fd);
  const std::string line(words, bytes > 0 ? static_cast<size_t>(bytes) : 0);
  const std::string option("--control-port\0", 15);
  size_t at = line.find(option);
  if (at == std::string::npos) return 0;
  at += option.size();
  const std::string place = line.substr(at, line.find('\0', at) - at);
  int64_t port = 0;
  const size_t colon = place.rfind(':');
  if (colon == std::string::npos || !base::parse_number(place.substr(colon + 1), base::Unit::none, port).empty())
    return 0;
  return port > 0 && port < 65536 ? static_cast<int>(port) : 0;
}

bool listens_at(int fd, int port) {
  int listens = 0;
  socklen_t bytes = sizeof listens;
  sockaddr_storage address = {};
  socklen_t length = sizeof address;
  if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) != 0 || listens == 0) return false;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) return false;
  if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port) == port;
  return address.ss_family == AF_INET6 && ntohs(reinterpret_cast<sockaddr_in6*>(&address)->sin6_port) == port;
}

}  // namespace

void close_hydras_listener() {
  const int port = control_port();
  DIR* descriptors = port > 0 ? opendir("/proc/self/fd") : nullptr;
  if (descriptors == nullptr) return;
  std::vector<int> listeners;
  while (const dirent* entry = readdir(descriptors)) {
    const int fd = std::atoi(entry->d_name);
    if (fd > 2 && listens_at(fd, port)) listeners.push_back(fd);
  }
  closedir(descriptors);
  for (int fd : listeners) close(fd);
}

}  // namespace weft::boot
