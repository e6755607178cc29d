// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/pmi/pmi1.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "base/setting.hpp"

namespace weft::boot {

bool Pmi1::fail(const std::string& cause, int error) {
  problem_ = {.cause = "the launcher (PMI-1) cannot be used: " + cause,
              .error = error,
              .remedy = "start the program with Weft's mpiexec, or with a launcher that serves PMI-1.1"};
  return false;
}

bool Pmi1::send(const std::string& line) {
  return wire_.send(line) || fail(wire_.cause(), wire_.error());
}

bool Pmi1::read_line(bool wait, bool& there) {
  for (;;) {
    const size_t end = wire_.text().find('\n');
    there = end != std::string_view::npos;
    if (there) {
      line_ = wire_.text().substr(0, end);
      wire_.take(end + 1);
      return reply_.parse(line_) || fail("its line " + base::quoted(line_) + " is not PMI-1");
    }
    if (wire_.full()) return fail("it sent a line of more than " + std::to_string(PmiLine::longest) + " characters");
    const Wire::ReceiveResult came = wire_.read(wait);
    if (came == Wire::ReceiveResult::nothing) return true;
    if (came == Wire::ReceiveResult::failed) return fail(wire_.cause(), wire_.error());
  }
}

bool Pmi1::ask(const std::string& line, std::string_view answer) {
  if (!wire_.is_open()) return fail("there is no connection");
  return send(line) && read_line() && answered(line.substr(0, line.find_first_of(" \n")), answer);
}

bool Pmi1::answered(std::string_view question, std::string_view answer) {
  if (reply_.value("cmd") != answer) return fail("it answered " + base::quoted(line_) + " to " + std::string(question));
  // Some replies leave rc out: that is success.
  if (reply_.has("rc") && reply_.number("rc", INT_MIN, INT_MAX, -1) != 0)
    return fail("it refused " + std::string(question) + ": " + base::quoted(line_));
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
  for (addrinfo* a = found; a && !wire_.is_open(); a = a->ai_next) {
    int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
    if (fd >= 0 && ::connect(fd, a->ai_addr, a->ai_addrlen) == 0)
      wire_.open(fd);
    else {
      last = errno;
      if (fd >= 0) close(fd);
    }
  }
  freeaddrinfo(found);
  return wire_.is_open() || fail("connecting to PMI_PORT=" + base::quoted(port) + " failed", last);
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
    wire_.open(offer.fd);
  }
  rank_ = offer.rank;
  size_ = offer.size;
  if (!ask("cmd=init pmi_version=1 pmi_subversion=1\n", "response_to_init")) {
    const bool refused = reply_.value("cmd") == "response_to_init";
    if (refused && !offer.forced) {
      offer.launcher = Launcher::pmi2;
      offer.fd = wire_.descriptor();
    }
    return false;
  }
  if (!ask("cmd=get_maxes\n", "maxes")) return false;
  longest_key_ = static_cast<size_t>(reply_.number("keylen_max", 1, INT_MAX, 32));
  const size_t value = static_cast<size_t>(reply_.number("vallen_max", 1, INT_MAX, 256));
  if (!ask("cmd=get_my_kvsname\n", "my_kvsname")) return false;
  kvs_name_ = reply_.value("kvsname");
  if (kvs_name_.empty() || kvs_name_.size() > 512) return fail("it gave no name for the job's key-value space");
  // Slurm takes lines of that many characters alone, with all that is around the value.
  const size_t line = std::min(std::max<size_t>(1024, value), PmiLine::longest);
  const size_t around = put_line(std::string(most_key, ' '), "").size();
  longest_value_ = std::min(value, line - around);
  // Good to know, but a job runs without.
  if (ask("cmd=get_appnum\n", "appnum")) app_number_ = reply_.number("appnum", 0, INT_MAX, -1);
  if (ask("cmd=get_universe_size\n", "universe_size")) universe_size_ = reply_.number("size", 1, INT_MAX, -1);
  return true;
}

std::string Pmi1::put_line(const std::string& key, const std::string& value) const {
  return "cmd=put kvsname=" + kvs_name_ + " key=" + key + " value=" + value + "\n";
}

bool Pmi1::put(const std::string& key, const std::string& value) {
  const std::string full = key_of(rank_, key);
  if (full.size() > std::min(longest_key_, most_key) || value.size() > longest_value_)
    return fail("a value to publish is too long for it");
  return ask(put_line(full, value), "put_result");
}

bool Pmi1::look_up(const std::string& key, std::string& value) {
  if (!ask("cmd=get kvsname=" + kvs_name_ + " key=" + key + "\n", "get_result")) return false;
  value = reply_.value("value");
  return true;
}

bool Pmi1::get(int rank, const std::string& key, std::string& value) {
  return look_up(key_of(rank, key), value);
}

bool Pmi1::start_barrier() {
  if (!wire_.is_open()) return fail("there is no connection");
  return send("cmd=barrier_in\n");
}

bool Pmi1::end_barrier(bool wait, bool& over) {
  if (!read_line(wait, over)) return false;
  return !over || answered("cmd=barrier_in", "barrier_out");
}

bool Pmi1::local_ranks(std::vector<int>& ranks) {
  std::string mapping;
  if (!look_up("PMI_process_mapping", mapping) || !mapping_.parse(mapping, size_)) return false;
  ranks = mapping_.ranks_on(mapping_.node_of(rank_));
  return true;
}

void Pmi1::finish() {
  if (!wire_.is_open()) return;
  if (!ask("cmd=finalize\n", "finalize_ack") && wire_.error() == EBADF) base::warn(problem_);
  wire_.close();
}

void Pmi1::abort(int status) {
  if (wire_.is_open()) (void)send("cmd=abort exitcode=" + std::to_string(status) + "\n");
}

}  // namespace weft::boot
