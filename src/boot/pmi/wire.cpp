// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/pmi/wire.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace weft::boot {

void Wire::close() {
  line_.close();
}

void Wire::hang_up() {
  (void)::shutdown(line_.number(), SHUT_RDWR);
}

bool Wire::find(int& fd) {
  fd = line_.number();
  if (fd >= 0) return true;
  cause_ = "the program has closed its descriptor";
  error_ = EBADF;
  return false;
}

bool Wire::send(std::string_view text) {
  int fd = -1;
  if (!find(fd)) return false;
  while (!text.empty()) {
    // A launcher that is gone must be an error and not SIGPIPE; a descriptor that is not a socket takes a plain write.
    ssize_t n = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == ENOTSOCK) n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      cause_ = "writing to it failed";
      error_ = errno;
      return false;
    }
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

Wire::ReceiveResult Wire::read(bool wait) {
  int fd = -1;
  if (!find(fd)) return ReceiveResult::failed;
  pollfd ready{fd, POLLIN, 0};
  if (!wait && poll(&ready, 1, 0) <= 0) return ReceiveResult::nothing;
  ssize_t n = 0;
  do {
    n = ::read(fd, buffer_ + filled_, longest - filled_);
  } while (n < 0 && errno == EINTR);
  if (n <= 0) {
    cause_ = n < 0 ? "reading from it failed" : "it closed the connection";
    error_ = n < 0 ? errno : 0;
    return ReceiveResult::failed;
  }
  filled_ += static_cast<size_t>(n);
  return ReceiveResult::more;
}

void Wire::take(size_t count) {
  filled_ -= count;
  memmove(buffer_, buffer_ + count, filled_);
}

}  // namespace weft::boot
