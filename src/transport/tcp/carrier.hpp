// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Frames carried by TCP, with nothing but the system in between: one connection for each pair of lanes that talk, for
// both ways. The carrier is composed of parts that each have one file:
//
//   Links            the table of connections, and what each port of ours watches
//   Connector        how a link gets its connection
//   Outgoing         what is sent over a connection
//   DatagramChannel  small frames beside a connection
//   Incoming         what is received over a connection
//
// Here is the poll that gives each of them its turn. Owner and threads: as of net::Carrier.

#include "transport/tcp/channel.hpp"
#include "transport/tcp/connector.hpp"
#include "transport/tcp/incoming.hpp"
#include "transport/tcp/outgoing.hpp"

namespace weft::transport::tcp {

class TcpCarrier final : public net::Carrier {
 public:
  // `secret` of the job, as of net::Opening. Without `threads` one at a time calls. Ends the job with a message when
  // this host has no address.
  TcpCarrier(uint32_t lanes, int rank, int ranks, std::string_view secret, bool threads = true,
             ConnectTimes patience = {});

  const char* name() const override { return "tcp"; }
  bool knows_peers() const override { return true; }
  std::string address(uint32_t lane) override;
  bool insert(std::string_view bytes, net::Address& address) override;
  int send(uint32_t lane, net::Buffer* buffer, const void* start, size_t bytes, net::Address to) override;
  void each_intake(void (*call)(void* memory, size_t bytes)) override { incoming_.each_intake(call); }
  void linger() override;
  bool all_sent() const override { return datagrams_.all_sent(); }
  bool pushes() const override { return true; }
  int push(net::Buffer* buffer, const void* data, size_t bytes, net::Address to) override;
  bool reads() const override { return !net::reading_is_off(); }
  bool checks_reads() const override { return true; }
  int64_t reads_from() const override { return net::tcp_reads_from; }
  size_t read_most() const override;
  bool register_memory(void* memory, size_t bytes, Access access, MemoryRef& ref) override;
  void deregister(uint64_t key) override { registered_.remove(key); }
  int read(uint32_t lane, net::Address from, const MemoryRef& memory, size_t at, void* to, size_t bytes,
           Read& read) override;
  int poll(uint32_t lane, net::Events& events) override;
  int wait_descriptor() const override { return links_.wait_descriptor(); }
  bool may_sleep() override;
  std::string error_text(int error) const override { return net::text_of_error(error); }

 private:
  int read_from(uint32_t lane, Watched& what, net::Events& events);
  int look(uint32_t lane, net::Events& events);
  int look_at_link(uint32_t lane, Link& link, uint32_t ready, net::Events& events);
  void look_at_time(uint32_t lane, net::Events& events);

  const Self self_;
  Links links_;
  Outgoing outgoing_;
  Connector connector_;
  net::Registered registered_;
  DatagramChannel datagrams_;
  Incoming incoming_;
};

}  // namespace weft::transport::tcp
