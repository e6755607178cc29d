// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/service.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.hpp"
#include "boot/door.hpp"

namespace weft::boot {
namespace {

// Closes without a change of errno.
class Line {
 public:
  explicit Line(int fd) : fd_(fd) {}
  ~Line() {
    const int error = errno;
    if (fd_ >= 0) close(fd_);
    errno = error;
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
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

}  // namespace

bool ask_launcher(const std::string& door, const Packet& question, Packet& answer, void (*meanwhile)(), int most_s) {
  constexpr uint64_t second = 1000000000;
  const uint64_t until_ns = most_s == 0 ? UINT64_MAX : base::now_ns() + static_cast<uint64_t>(most_s) * second;
  if (question.bytes().size() > Packet::most_bytes) {
    errno = E2BIG;
    return false;
  }
  const Line line(connect_to_door(door));
  if (line.fd() < 0 || !send_all(line.fd(), question.framed(), meanwhile, until_ns)) return false;
  std::string received;
  for (;;) {
    if (!wait_for(line.fd(), POLLIN, meanwhile, until_ns)) return false;
    char buffer[4096];
    const ssize_t n = recv(line.fd(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (n > 0) {
      bool bad = false;
      received.append(buffer, static_cast<size_t>(n));
      if (Packet::unframe(received, answer, bad)) return true;
      if (bad) {
        errno = EPROTO;
        return false;
      }
    } else if (n == 0) {
      errno = ECONNRESET;
      return false;
    } else if (errno != EAGAIN && errno != EINTR) {
      return false;
    }
  }
}

}  // namespace weft::boot
