// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The sending side of connections. Bytes that the system does not take at once wait in the link's queue, and leave with
// later ones in one call when the socket can take them. Messages sent before the link is open wait likewise.
//
// Owner: the TcpCarrier; it outlives the Connector, the DatagramChannel and the Incoming, which send through it.
// Threads: any. Every call is made with the link's lock, and leaves buffers that are no longer in use in `ended`.

#include <span>

#include "transport/tcp/link.hpp"

struct iovec;

namespace weft::transport::tcp {

class Outgoing {
 public:
  explicit Outgoing(Links& links) : links_(links) {}

  // A frame that lies in its buffer, and data pushed from where they lie; gives the result of net::Carrier::send() and
  // push(). Afterwards the Connector starts a link that is idle.
  [[nodiscard]] int send(Link& link, net::Buffer* buffer, unsigned char* frame, size_t bytes);
  [[nodiscard]] int push(Link& link, net::Buffer* buffer, const void* data, size_t bytes);

  // An item of item_least bytes, before what is queued later. 0, or the error that the link was lost by.
  [[nodiscard]] int send_item(Link& link, const void* item);
  // The data that a peer asked for, behind the head of an answer.
  void answer(Link& link, const ReadAnswer& head, uint64_t address, Ended& ended);
  // Copies of datagrams that have not been acknowledged.
  void repeat(Link& link, std::vector<unsigned char>&& copies);

  // The connection is there: proves what was asked for before.
  static void prove_waiting(Link& link);
  // Sends what waits, as far as the system takes it.
  void flush(Link& link, Ended& ended);
  // Nothing more can be sent or received there.
  void lose(Link& link, int error, Ended& ended);
  // The peer's connection, or a datagram beside it, has brought what the peer has not sent. The poller's, without the
  // link's lock.
  void end_changed(uint32_t lane, Link& link, net::Events& events);

 private:
  int send_now(Link& link, const void* at, size_t bytes, size_t& sent);
  int send_parts_now(Link& link, std::span<const iovec> parts, size_t bytes, size_t& sent);
  int taken_of(Link& link, ssize_t taken, size_t bytes, size_t& sent);
  void enqueue(Link& link, const void* head, size_t sent);

  Links& links_;
};

}  // namespace weft::transport::tcp
