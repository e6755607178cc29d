// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpiexec/service.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "boot/connect/job_number.hpp"

namespace weft::mpiexec {

Service::~Service() {
  for (const auto& [caller, line] : lines_) close(line.fd);
}

void Service::open(bool numbered) {
  numbered ? boot::open_job_socket(listener_, getpid()) : listener_.open();
}

void Service::add_to(std::vector<pollfd>& polled) {
  first_polled_ = polled.size();
  polled_.clear();
  polled.push_back({lines_.size() < most_lines ? listener_.socket() : -1, POLLIN, 0});
  for (const auto& [caller, line] : lines_) {
    polled.push_back({line.fd, static_cast<short>(POLLIN | (line.out.empty() ? 0 : POLLOUT)), 0});
    polled_.push_back(caller);
  }
}

void Service::take(const std::vector<pollfd>& polled, const Handlers& handlers) {
  if (polled[first_polled_].revents != 0) take_callers();
  for (size_t i = 0; i < polled_.size(); ++i) {
    if (polled[first_polled_ + 1 + i].revents == 0) continue;
    const auto found = lines_.find(polled_[i]);
    if (found == lines_.end()) continue;
    if (!found->second.out.empty() && write_to(found->second)) {
      close(found->second.fd);
      lines_.erase(found);
    } else if (!found->second.answered) {
      read_from(polled_[i], found->second, handlers);
    }
  }
}

void Service::take_callers() {
  for (int fd = listener_.accept(); fd >= 0; fd = listener_.accept()) {
    lines_[next_++].fd = fd;
    if (lines_.size() >= most_lines) return;
  }
}

void Service::read_from(Caller caller, Line& line, const Handlers& handlers) {
  char buffer[16384];
  const ssize_t n = recv(line.fd, buffer, sizeof buffer, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  bool bad = n <= 0 || line.asked;  // a caller asks once, and waits
  if (!bad) {
    line.in.append(buffer, static_cast<size_t>(n));
    boot::Packet packet;
    if (boot::Packet::unframe(line.in, packet, bad)) {
      line.asked = true;
      return handlers.asked(caller, packet);
    }
  }
  if (!bad) return;
  const bool waits = line.asked;
  close(line.fd);
  lines_.erase(caller);
  if (waits) handlers.gone(caller);
}

// True: all of it has left, or nobody reads it.
bool Service::write_to(Line& line) {
  const ssize_t n = send(line.fd, line.out.data(), line.out.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (n > 0) line.out.erase(0, static_cast<size_t>(n));
  return line.out.empty() || (n < 0 && errno != EAGAIN && errno != EINTR);
}

void Service::answer(Caller caller, const boot::Packet& packet) {
  const auto found = lines_.find(caller);
  if (found == lines_.end() || found->second.answered) return;
  Line& line = found->second;
  line.answered = true;
  line.out = packet.framed();
  if (!write_to(line)) return;
  close(line.fd);
  lines_.erase(found);
}

}  // namespace weft::mpiexec
