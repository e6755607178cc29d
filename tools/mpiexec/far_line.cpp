// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpiexec/far_line.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/message.hpp"

namespace weft::mpiexec {
namespace {

namespace net = transport::net;

using base::second;
constexpr uint64_t greeting_patience_ns = 10 * second;  // for a greeting
constexpr uint64_t at_one_ns = 3 * second;              // for one address of several
constexpr int lost_after_s = 30;                        // of silence of the other host
constexpr size_t most_frame = 4 << 20;
constexpr size_t longest_port = 1024;
constexpr size_t most_unread = 64 << 10;     // read at once
constexpr uint32_t line_magic = 0x014a4557;  // "WEJ" in memory, and the version

struct Challenge {
  uint32_t magic;
  uint32_t unused;
  uint64_t nonce;
};
// Behind it the name of the port.
struct Hello {
  uint32_t magic;
  uint32_t port_bytes;
  uint64_t nonce;
  uint64_t proof;
};
struct Welcome {
  uint32_t magic;
  uint32_t unused;
  uint64_t proof;
};
struct FrameHead {
  uint32_t bytes;
  uint32_t unused;
};
static_assert(sizeof(Challenge) == 16 && sizeof(Hello) == 24 && sizeof(Welcome) == 16 && sizeof(FrameHead) == 8);

enum Role : uint64_t { of_caller = 1, of_listener, of_further_port };

template <class T>
void append(std::string& text, const T& value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
bool take(std::string& text, T& value) {
  if (text.size() < sizeof value) return false;
  std::memcpy(&value, text.data(), sizeof value);
  text.erase(0, sizeof value);
  return true;
}

// Words for a proof: the length, and the bytes with zeros behind them.
void append_words(std::vector<uint64_t>& words, std::string_view text) {
  words.push_back(text.size());
  for (size_t at = 0; at < text.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + at, std::min(sizeof word, text.size() - at));
    words.push_back(word);
  }
}

uint64_t proof_of_frame(const net::Key& key, uint64_t number, std::string_view bytes) {
  std::vector<uint64_t> words{number};
  append_words(words, bytes);
  return key.proof(words.data(), words.size());
}

}  // namespace

FarLine::FarLine(std::string port, net::ListenAddresses place, const std::string& secret)
    : state_(State::connecting),
      caller_(true),
      port_(std::move(port)),
      place_(std::move(place)),
      secret_(net::Key::of_secret(secret)) {
  connect_next();
}

FarLine::FarLine(net::Socket socket, std::function<std::string(const std::string&)> secret_of)
    : state_(State::guest),
      caller_(false),
      socket_(std::move(socket)),
      find_secret_(std::move(secret_of)),
      listener_nonce_(net::fresh_nonce()),
      where_(net::near_end(socket_)),
      due_ns_(base::now_ns() + greeting_patience_ns) {
  append(out_, Challenge{line_magic, 0, listener_nonce_});
  write();
}

void FarLine::end(const std::string& why) {
  state_ = State::over;
  why_ = why;
  due_ns_ = UINT64_MAX;
  socket_.close();
}

void FarLine::connect_next() {
  in_.clear();
  state_ = State::connecting;
  socket_ = net::connect_in_turn(place_, tried_, error_);
  due_ns_ = base::now_ns() + at_one_ns;
  if (socket_) return;
  end(base::describe({.cause = "the mpiexec of the port's job cannot be reached at any of its addresses",
                      .error = error_ != 0 ? error_ : ETIMEDOUT,
                      .remedy = "see whether that job still runs, and whether the hosts share a network "
                                "(WEFT_NETWORKS names it, for the mpiexec that opens the port)"}));
}

short FarLine::events() const {
  if (state_ == State::over) return 0;
  if (state_ == State::connecting) return POLLOUT;
  return static_cast<short>(POLLIN | (out_.empty() ? 0 : POLLOUT));
}

void FarLine::advance() {
  if (state_ == State::over) return;
  if (state_ != State::open && base::now_ns() >= due_ns_) {
    if (state_ == State::guest) return end("it has not said who it is");
    error_ = ETIMEDOUT;
    return connect_next();
  }
  if (state_ == State::connecting) {
    pollfd p{socket_.descriptor(), POLLOUT, 0};
    if (poll(&p, 1, 0) <= 0) return;
    error_ = net::error_of(socket_);
    if (error_ != 0) return connect_next();
    where_ = net::far_end(socket_);
    state_ = State::challenged;
    return;
  }
  write();
  if (state_ != State::over) read();
}

void FarLine::write() {
  while (!out_.empty()) {
    const ssize_t n = ::send(socket_.descriptor(), out_.data(), out_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) {
      out_.erase(0, static_cast<size_t>(n));
    } else if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
      return;
    } else {
      return end(net::text_of_error(errno));
    }
  }
}

// Before it is open no more than a greeting is taken.
void FarLine::read() {
  char buffer[most_unread];
  const size_t most = state_ == State::open ? sizeof buffer : sizeof(Hello) + longest_port;
  const ssize_t n = recv(socket_.descriptor(), buffer, most, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) {
    error_ = n < 0 ? errno : ECONNRESET;
    if (state_ == State::challenged) return connect_next();
    if (state_ == State::greeted) {
      return end(
          "the mpiexec of the port's job does not take the port's secret. Remedy: see whether the port is still "
          "open, and the folder of secrets (WEFT_PORTS) the same for both jobs");
    }
    return end(net::text_of_error(error_));
  }
  in_.append(buffer, static_cast<size_t>(n));
  hear();
}

void FarLine::hear() {
  bool good = true;
  if (state_ == State::challenged) good = hear_challenge();
  if (state_ == State::guest) good = hear_hello();
  if (state_ == State::greeted) good = hear_welcome();
  if (good || state_ == State::over) return;
  // Another program may listen at an address that leads somewhere else.
  if (state_ == State::challenged) {
    error_ = EPROTO;
    return connect_next();
  }
  end("what it says is no greeting of this version of Weft, or it does not know the secret of the port");
}

uint64_t FarLine::proof(const net::Key& key, uint64_t role, const std::string& port) const {
  std::vector<uint64_t> words{role, caller_nonce_, listener_nonce_, where_};
  append_words(words, port);
  return key.derived(net::Purpose::port, {}).proof(words.data(), words.size());
}

bool FarLine::hear_challenge() {
  Challenge said;
  if (!take(in_, said)) return true;
  if (said.magic != line_magic || !in_.empty()) return false;
  listener_nonce_ = said.nonce;
  caller_nonce_ = net::fresh_nonce();
  append(out_, Hello{line_magic, static_cast<uint32_t>(port_.size()), caller_nonce_, proof(secret_, of_caller, port_)});
  out_ += port_;
  state_ = State::greeted;
  due_ns_ = base::now_ns() + greeting_patience_ns;
  tried_ = place_.addresses.size();  // it was there: no other address is tried
  write();
  return true;
}

bool FarLine::hear_hello() {
  if (in_.size() < sizeof(Hello)) return true;
  Hello said;
  std::memcpy(&said, in_.data(), sizeof said);
  if (said.magic != line_magic || said.port_bytes == 0 || said.port_bytes > longest_port ||
      in_.size() > sizeof said + said.port_bytes)
    return false;
  if (in_.size() < sizeof said + said.port_bytes) return true;
  port_ = in_.substr(sizeof said);
  in_.clear();
  const std::string secret = find_secret_(port_);
  if (secret.empty()) return false;
  secret_ = net::Key::of_secret(secret);
  caller_nonce_ = said.nonce;
  if (said.proof != proof(secret_, of_caller, port_)) return false;
  append(out_, Welcome{line_magic, 0, proof(secret_, of_listener, port_)});
  greet();
  write();
  return true;
}

bool FarLine::hear_welcome() {
  Welcome said;
  if (!take(in_, said)) return true;
  if (said.magic != line_magic || said.proof != proof(secret_, of_listener, port_)) return false;
  greet();
  return true;
}

void FarLine::greet() {
  const auto of = [&](uint64_t direction) {
    return secret_.derived(net::Purpose::port_line, {caller_nonce_, listener_nonce_, direction});
  };
  ours_ = of(caller_ ? of_caller : of_listener);
  theirs_ = of(caller_ ? of_listener : of_caller);
  state_ = State::open;
  proved_ = true;
  due_ns_ = UINT64_MAX;
  net::lose_after(socket_, lost_after_s);
}

bool FarLine::next(boot::Packet& packet) {
  // Packets that have come before the end count.
  if (!proved_ || in_.size() < sizeof(FrameHead)) return false;
  FrameHead head;
  std::memcpy(&head, in_.data(), sizeof head);
  if (head.bytes > most_frame || head.unused != 0) {
    proved_ = false;
    end("it sends what no mpiexec of this version sends");
    return false;
  }
  const size_t all = sizeof head + head.bytes + sizeof(uint64_t);
  if (in_.size() < all) return false;
  std::string bytes = in_.substr(sizeof head, head.bytes);
  uint64_t proved = 0;
  std::memcpy(&proved, in_.data() + sizeof head + head.bytes, sizeof proved);
  in_.erase(0, all);
  if (proved != proof_of_frame(theirs_, heard_++, bytes)) {
    proved_ = false;
    end("what it sends was changed on the way");
    return false;
  }
  packet = boot::Packet(std::move(bytes));
  return true;
}

void FarLine::send(const boot::Packet& packet) {
  if (state_ != State::open) return;
  append(out_, FrameHead{static_cast<uint32_t>(packet.bytes().size()), 0});
  out_ += packet.bytes();
  append(out_, proof_of_frame(ours_, sent_++, packet.bytes()));
  write();
}

std::string FarLine::secret_of_jobs() const {
  const net::Key key = secret_.derived(net::Purpose::two_jobs, {caller_nonce_, listener_nonce_});
  char text[40];
  (void)snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(key.words[0]),
                 static_cast<unsigned long long>(key.words[1]));
  return text;
}

uint64_t FarLine::proof_of_port(const std::string& port, const std::string& secret) const {
  return proof(net::Key::of_secret(secret), of_further_port, port);
}

}  // namespace weft::mpiexec
