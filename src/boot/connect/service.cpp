// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/connect/service.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/clock.hpp"
#include "boot/connect/fd_passing.hpp"

namespace weft::boot {
namespace {

using base::second;

// Closes without a change of errno.
class LauncherConnection {
 public:
  explicit LauncherConnection(int fd) : fd_(fd) {}
  ~LauncherConnection() {
    const int error = errno;
    if (fd_ >= 0) close(fd_);
    errno = error;
  }
  LauncherConnection(const LauncherConnection&) = delete;
  LauncherConnection& operator=(const LauncherConnection&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

// False with errno: it never will be.
bool wait_for(int fd, short events, void (*meanwhile)(), uint64_t until_ns) {
  constexpr int interval_ms = 1;
  for (;;) {
    meanwhile();
    if (base::now_ns() > until_ns) {
      errno = ETIMEDOUT;
      return false;
    }
    pollfd p{fd, events, 0};
    const int ready = ::poll(&p, 1, interval_ms);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

bool send_all(int fd, const std::string& bytes, void (*meanwhile)(), uint64_t until_ns) {
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = send(fd, bytes.data() + sent, bytes.size() - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) {
      sent += static_cast<size_t>(n);
    } else if ((n < 0 && errno != EAGAIN && errno != EINTR) || !wait_for(fd, POLLOUT, meanwhile, until_ns)) {
      return false;
    }
  }
  return true;
}

enum class Reception { part, all, nothing };  // nothing: it never will be all; errno says why

Reception hear(int fd, std::string& received, Packet& answer) {
  char buffer[4096];
  const ssize_t n = recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
  if (n < 0) return errno == EAGAIN || errno == EINTR ? Reception::part : Reception::nothing;
  bool bad = n == 0;
  if (bad) errno = ECONNRESET;
  received.append(buffer, static_cast<size_t>(n));
  if (!bad && Packet::unframe(received, answer, bad)) return Reception::all;
  if (bad && n > 0) errno = EPROTO;
  return bad ? Reception::nothing : Reception::part;
}

}  // namespace

std::string no_other_job(const std::string& id) {
  return "the job " + id +
         " has ranks on several hosts: it connects with no other job, and its own processes connect where they share a "
         "host. Remedy: start both programs with one mpiexec, whose MPI_COMM_WORLD has both, or each of them on one "
         "host";
}

bool ask_launcher(const std::string& socket, const Packet& question, Packet& answer, void (*meanwhile)(), int most_s) {
  const uint64_t until_ns = most_s == 0 ? UINT64_MAX : base::now_ns() + static_cast<uint64_t>(most_s) * second;
  if (question.bytes().size() > Packet::most_bytes) {
    errno = E2BIG;
    return false;
  }
  const LauncherConnection line(connect_to_socket(socket));
  if (line.fd() < 0 || !send_all(line.fd(), question.framed(), meanwhile, until_ns)) return false;
  std::string received;
  for (Reception heard = Reception::part; heard != Reception::all;) {
    if (!wait_for(line.fd(), POLLIN, meanwhile, until_ns)) return false;
    heard = hear(line.fd(), received, answer);
    if (heard == Reception::nothing) return false;
  }
  return true;
}

std::vector<Packet> ask_launchers(const std::vector<std::string>& sockets, const Packet& question, void (*meanwhile)(),
                                  int most_s) {
  struct AskedLauncher {
    int fd;
    std::string received;
    Packet answer;
    bool whole;
  };
  std::vector<AskedLauncher> asked;
  const uint64_t until_ns = base::now_ns() + static_cast<uint64_t>(most_s) * second;
  for (const std::string& socket : sockets) {
    const int fd = connect_to_socket(socket);
    if (fd >= 0) asked.push_back({fd, {}, {}, false});
    if (fd >= 0 && !send_all(fd, question.framed(), meanwhile, until_ns)) close(std::exchange(asked.back().fd, -1));
  }
  const auto is_open = [](const AskedLauncher& one) { return one.fd >= 0; };
  while (std::any_of(asked.begin(), asked.end(), is_open) && base::now_ns() < until_ns) {
    std::vector<pollfd> polled;
    polled.reserve(asked.size());
    for (const AskedLauncher& one : asked) polled.push_back({one.fd, POLLIN, 0});
    meanwhile();
    if (::poll(polled.data(), polled.size(), 1) <= 0) continue;
    for (size_t i = 0; i < asked.size(); ++i) {
      if (polled[i].revents == 0) continue;
      const Reception heard = hear(asked[i].fd, asked[i].received, asked[i].answer);
      asked[i].whole = heard == Reception::all;
      if (heard != Reception::part) close(std::exchange(asked[i].fd, -1));
    }
  }
  std::vector<Packet> answers;
  for (AskedLauncher& one : asked) {
    if (one.fd >= 0) close(one.fd);
    if (one.whole) answers.push_back(std::move(one.answer));
  }
  return answers;
}

}  // namespace weft::boot
