// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The datagram channel beside connections, for small frames between lanes that talk more than a few times. It opens the
// sockets, sends and receives; a ticker sends again over the connection what has not been acknowledged in time
// (datagram.hpp has the rules).
//
// Owner: the TcpCarrier. Lifetime: the links and the Outgoing outlive it, since its ticker uses them. Threads: calls
// that say so are made with the link's lock, which comes before the channel's own; the poller receives; the service
// thread never waits for a link's lock.

#include <span>

#include "base/ticker.hpp"
#include "transport/tcp/connector.hpp"

namespace weft::transport::tcp {

class DatagramChannel {
 public:
  DatagramChannel(const Self& self, Links& links, Outgoing& outgoing);

  // With the link's lock. false: the frame is to go over the connection, this time.
  [[nodiscard]] bool send(Link& link, const void* frame, size_t bytes);

  // The poller's. How many frames came.
  int read(uint32_t lane, Beside& beside, net::Events& events);
  int read_beside(uint32_t lane, Link& link, net::Events& events);
  // Whether this head of one that comes over the connection is the peer's.
  [[nodiscard]] static bool believes(Link& link, const Datagram& head);
  // A datagram and its frame that come over the connection, in one piece. false: it is not the peer's.
  [[nodiscard]] bool repeated(uint32_t lane, Link& link, const unsigned char* bytes, size_t size, net::Events& events);
  // false: it is not the peer's.
  [[nodiscard]] bool accept(Link& link, const Invitation& invitation);

  // Whether all frames that left as datagrams have been acknowledged, and all that are repeated have left.
  bool all_sent() const;

 private:
  void invite(Link& link);
  static void send_datagram(Link& link, std::span<const unsigned char> bytes);
  static void acknowledge(Link& link);
  Datagrams::Taken take(Link& link, const unsigned char* bytes, size_t size, bool on_connection);
  bool tick();

  const Self& self_;
  Links& links_;
  Outgoing& outgoing_;
  mutable base::Lock lock_;  // of what follows
  std::vector<Link*> links_with_sockets_;
  base::Ticker ticker_;
};

}  // namespace weft::transport::tcp
