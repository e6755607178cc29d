// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A connection between the mpiexec of two jobs of different hosts, by TCP. The side that listens says a number that was
// never said before; the side that calls answers with a number of its own, the port it calls for, and a proof that it
// knows the secret of that port; then the other one proves the same. Everything behind that is packets, each with a
// proof by a key of the connection and its direction, so that none can be made, changed or repeated by others
// (docs/design/hosts.md, "Trust"). Nothing blocks; before the proofs a side takes a bounded number of bytes for a
// bounded time.

#include <cstdint>
#include <functional>
#include <string>

#include "boot/connect/packet.hpp"
#include "transport/net/proof.hpp"
#include "transport/net/socket.hpp"

namespace weft::mpiexec {

class FarLine {
 public:
  enum class State : uint8_t { connecting, challenged, greeted, guest, open, over };

  // Calls for a port at these addresses, in turn.
  FarLine(std::string port, transport::net::ListenAddresses place, const std::string& secret);
  // Somebody has called. `secret_of` gives the secret of an open port, empty: there is none.
  FarLine(transport::net::Socket socket, std::function<std::string(const std::string&)> secret_of);

  State state() const { return state_; }
  bool is_caller() const { return caller_; }
  bool has_greeted() const { return state_ == State::open; }
  int descriptor() const { return socket_.descriptor(); }
  short events() const;
  // When advance() is to be called although nothing has happened.
  uint64_t due() const { return due_ns_; }
  // Something has happened, or is due.
  void advance();
  // The next packet; false: there is none now.
  [[nodiscard]] bool next(boot::Packet& packet);
  void send(const boot::Packet& packet);
  [[nodiscard]] bool has_sent_all() const { return out_.empty(); }
  // Why it is over.
  const std::string& why() const { return why_; }

  // The address of the far end, for a bound on callers.
  uint32_t address() const { return static_cast<uint32_t>(transport::net::far_end(socket_) >> 16); }
  // 32 hexadecimal digits that both sides make of what they have said, and nobody else can.
  std::string secret_of_jobs() const;
  // A proof of knowing the secret of a further port, good on this line alone.
  uint64_t proof_of_port(const std::string& port, const std::string& secret) const;

 private:
  void end(const std::string& why);
  void connect_next();
  void read();
  void write();
  void hear();
  bool hear_challenge();
  bool hear_hello();
  bool hear_welcome();
  void greet();
  [[nodiscard]] uint64_t proof(const transport::net::Key& key, uint64_t role, const std::string& port) const;

  State state_;
  bool caller_;
  bool proved_ = false;  // packets are believed if they prove themselves
  transport::net::Socket socket_;
  std::string port_;
  transport::net::ListenAddresses place_;
  size_t tried_ = 0;
  transport::net::Key secret_;
  std::function<std::string(const std::string&)> find_secret_;
  uint64_t caller_nonce_ = 0, listener_nonce_ = 0;
  uint64_t where_ = 0;  // the listener's address and port, as each side sees them
  transport::net::Key ours_, theirs_;
  uint64_t sent_ = 0, heard_ = 0;  // packets
  std::string in_, out_;
  uint64_t due_ns_ = 0;
  int error_ = 0;
  std::string why_;
};

}  // namespace weft::mpiexec
