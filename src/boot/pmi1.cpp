// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/pmi1.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "base/setting.hpp"

namespace weft::boot {

bool Pmi1::fail(const std::string& cause, int error) {
  problem_ = {.cause = "the launcher (PMI-1) cannot be used: " + cause,
              .error = error,
              .remedy = "start the program with Weft's mpiexec, or with a launcher that serves PMI-1.1"};
  return false;
}

bool Pmi1::send(const std::string& line) {
  size_t done = 0;
  while (done < line.size()) {
    // A launcher that is gone must be an error and not SIGPIPE; what is not a socket takes a plain write.
    ssize_t n = ::send(fd_, line.data() + done, line.size() - done, MSG_NOSIGNAL);
    if (n < 0 && errno == ENOTSOCK) n = write(fd_, line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail("writing to it failed", errno);
    done += static_cast<size_t>(n);
  }
  return true;
}

bool Pmi1::read_line() {
  for (;;) {
    if (void* end = memchr(buffer_, '\n', filled_)) {
      size_t length = static_cast<size_t>(static_cast<char*>(end) - buffer_);
      line_.assign(buffer_, length);
      filled_ -= length + 1;
      memmove(buffer_, buffer_ + length + 1, filled_);
      if (!reply_.parse(line_)) return fail("its line " + base::quoted(line_) + " is not PMI-1");
      return true;
    }
    if (filled_ == sizeof buffer_)
      return fail("it sent a line of more than " + std::to_string(PmiLine::longest) + " characters");
    ssize_t n = read(fd_, buffer_ + filled_, sizeof buffer_ - filled_);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail("reading from it failed", errno);
    if (n == 0) return fail("it closed the connection");
    filled_ += static_cast<size_t>(n);
  }
}

bool Pmi1::ask(const std::string& line, std::string_view answer) {
  if (fd_ < 0) return fail("there is no connection");
  if (!send(line) || !read_line()) return false;
  std::string asked = line.substr(0, line.find_first_of(" \n"));
  if (reply_.value("cmd") != answer) return fail("it answered " + base::quoted(line_) + " to " + asked);
  // Some replies leave rc out: that is success.
  if (reply_.has("rc") && reply_.number("rc", INT_MIN, INT_MAX, -1) != 0)
    return fail("it refused " + asked + ": " + base::quoted(line_));
  return true;
}

bool Pmi1::connect(const std::string& port) {
  size_t colon = port.rfind(':');
  if (colon == std::string::npos) return fail("PMI_PORT=" + base::quoted(port) + " is not host:port");
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  int error = getaddrinfo(port.substr(0, colon).c_str(), port.substr(colon + 1).c_str(), &hints, &found);
  if (error) return fail("PMI_PORT=" + base::quoted(port) + ": " + gai_strerror(error));
  int last = 0;
  for (addrinfo* a = found; a && fd_ < 0; a = a->ai_next) {
    int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
    if (fd >= 0 && ::connect(fd, a->ai_addr, a->ai_addrlen) == 0)
      fd_ = fd;
    else {
      last = errno;
      if (fd >= 0) close(fd);
    }
  }
  freeaddrinfo(found);
  return fd_ >= 0 || fail("connecting to PMI_PORT=" + base::quoted(port) + " failed", last);
}

// With PMI_PORT the server tells size and rank in lines of their own.
bool Pmi1::greet_by_port(Offer& offer) {
  if (!ask("cmd=initack pmiid=" + std::to_string(offer.pmi_id) + "\n", "initack")) return false;
  int size = -1;
  int rank = -1;
  for (bool debug_seen = false; !debug_seen;) {
    if (!read_line()) return false;
    if (reply_.value("cmd") != "set") return fail("it sent " + base::quoted(line_) + " instead of our rank");
    if (reply_.has("size"))
      size = reply_.number("size", 1, most_ranks, -1);
    else if (reply_.has("rank"))
      rank = reply_.number("rank", 0, most_ranks - 1, -1);
    else
      debug_seen = true;
  }
  if (size < 1 || rank < 0 || rank >= size) return fail("it did not tell our rank and the number of ranks");
  offer.size = size;
  offer.rank = rank;
  return true;
}

bool Pmi1::begin(Offer& offer) {
  if (!offer.port.empty()) {
    if (!connect(offer.port) || !greet_by_port(offer)) return false;
  } else {
    fd_ = offer.fd;
  }
  if (!ask("cmd=init pmi_version=1 pmi_subversion=1\n", "response_to_init")) return false;
  if (!ask("cmd=get_maxes\n", "maxes")) return false;
  longest_key_ = static_cast<size_t>(reply_.number("keylen_max", 1, INT_MAX, 32));
  longest_value_ = static_cast<size_t>(reply_.number("vallen_max", 1, INT_MAX, 256));
  if (!ask("cmd=get_my_kvsname\n", "my_kvsname")) return false;
  space_ = reply_.value("kvsname");
  if (space_.empty() || space_.size() > 1024) return fail("it gave no name for the job's key space");
  // Good to know, but a job runs without.
  if (ask("cmd=get_appnum\n", "appnum")) app_number_ = reply_.number("appnum", 0, INT_MAX, -1);
  if (ask("cmd=get_universe_size\n", "universe_size")) universe_size_ = reply_.number("size", 1, INT_MAX, -1);
  return true;
}

bool Pmi1::put(const std::string& key, const std::string& value) {
  if (key.size() > longest_key_ || value.size() > longest_value_) return fail("a value to publish is too long for it");
  return ask("cmd=put kvsname=" + space_ + " key=" + key + " value=" + value + "\n", "put_result");
}

bool Pmi1::get(const std::string& key, std::string& value) {
  if (!ask("cmd=get kvsname=" + space_ + " key=" + key + "\n", "get_result")) return false;
  value = reply_.value("value");
  return true;
}

bool Pmi1::barrier() {
  return ask("cmd=barrier_in\n", "barrier_out");
}

void Pmi1::finish() {
  if (fd_ < 0) return;
  (void)ask("cmd=finalize\n", "finalize_ack");
  close(fd_);
  fd_ = -1;
}

void Pmi1::abort(int status) {
  if (fd_ >= 0) (void)send("cmd=abort exitcode=" + std::to_string(status) + "\n");
}

}  // namespace weft::boot
