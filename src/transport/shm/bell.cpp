// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/bell.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdio>

namespace weft::transport::shm {
namespace {

// The kernel binds a socket to an abstract name of a zero byte and five hexadecimal digits when asked for none.
constexpr size_t digits = 5;
constexpr socklen_t name_bytes = offsetof(sockaddr_un, sun_path) + 1 + digits;

}  // namespace

Bell::~Bell() {
  file_.close();
}

bool Bell::open() {
  const int made = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (made < 0) return false;
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  socklen_t bytes = sizeof name;
  if (bind(made, reinterpret_cast<sockaddr*>(&name), sizeof name.sun_family) == 0 &&
      getsockname(made, reinterpret_cast<sockaddr*>(&name), &bytes) == 0 && bytes == name_bytes) {
    const char* text = name.sun_path + 1;
    const auto [end, error] = std::from_chars(text, text + digits, number_, 16);
    ++number_;
    if (error == std::errc() && end == text + digits) {
      file_ = {made, "the calls of other ranks"};
      socket_.store(made, std::memory_order_release);
      return true;
    }
  }
  close(made);
  return false;
}

void Bell::ring(uint32_t number) const {
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  std::snprintf(name.sun_path + 1, digits + 1, "%05x", number - 1);
  const char tone = 0;
  const int own = is_intact() ? file_.unchecked() : -1;
  const int from = own >= 0 ? own : socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  // Nobody there, or rung often enough: either way there is nobody to wake.
  (void)sendto(from, &tone, sizeof tone, 0, reinterpret_cast<const sockaddr*>(&name), name_bytes);
  if (own < 0 && from >= 0) close(from);
}

void Bell::wait(int descriptor, uint64_t timeout_ns) const {
  // Nobody can ring any more once the program has closed the socket.
  constexpr uint64_t unrung_ns = 1000000;
  const bool intact = is_intact();
  if (!intact) timeout_ns = std::min(timeout_ns, unrung_ns);
  pollfd news[] = {{intact ? file_.unchecked() : -1, POLLIN, 0}, {descriptor, POLLIN, 0}};
  const timespec time{static_cast<time_t>(timeout_ns / 1000000000), static_cast<long>(timeout_ns % 1000000000)};
  if (ppoll(news, 2, &time, nullptr) <= 0 || news[0].revents == 0) return;
  // Any process of this host may ring: a wake-up for nothing, and one that goes on ringing does not keep us here.
  char tones[64];
  for (int heard = 0; heard < 64 && recv(socket_, tones, sizeof tones, 0) >= 0; ++heard) continue;
}

}  // namespace weft::transport::shm
