// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The receiving side of connections: takes the stream of bytes apart into items, and reports them. Frames are reported
// where they lie. Data that were pushed, or read from a peer's memory, go straight to their place but for what came in
// with their header. A peer that asks for memory of ours is answered.
//
// Owner: the TcpCarrier. Threads: the poller of the lane alone; holds_any() by any.

#include "transport/net/registered.hpp"
#include "transport/tcp/channel.hpp"

namespace weft::transport::tcp {

class Incoming {
 public:
  Incoming(uint32_t lanes, Links& links, Outgoing& outgoing, DatagramChannel& datagrams,
           const net::Registered& registered);

  // Items that have come in and were left for the next poll().
  bool holds(uint32_t lane) const { return batches_[lane].at != batches_[lane].end; }
  bool holds_any() const;
  // Reports items of the lane's last batch; how many.
  int deliver(uint32_t lane, net::Events& events);
  // Takes what has come in on a connection, unless the lane still holds items of another one.
  int read(uint32_t lane, Link& link, net::Events& events);

  // The memory of each lane.
  void each_intake(void (*call)(void* memory, size_t bytes)) const;

  // Asks the peer for memory of its own. With the link's lock. 0, or the error that the link was lost by.
  [[nodiscard]] int ask(Link& link, const MemoryRef& memory, size_t at, void* to, size_t bytes, Read& read);

  // Reports the data of a lost link, which will not come.
  void give_up(Link& link, net::Events& events);

 private:
  // The bytes that came in at once on a lane. Items of [at, end) have not been reported.
  struct Batch {
    std::unique_ptr<unsigned char[]> memory;
    Link* source = nullptr;
    size_t at = 0, end = 0;
    std::atomic<bool> untold = false;  // whether there are any
  };

  void lose(uint32_t lane, Link& link, int error, net::Events& events);
  bool is_believed(uint32_t lane, Link& source, const unsigned char* item, size_t left, net::Events& events);
  // Items. false: the peer has sent nothing like it, and what is behind it cannot be understood.
  bool take_item(uint32_t lane, Link& source, const unsigned char* item, size_t bytes, int& told, net::Events& events);
  bool answer(uint32_t lane, Link& link, const Ask& ask, net::Events& events);
  static bool begin_pushed(uint32_t lane, Link& link, const net::Header& header, net::Events& events);
  static bool begin_answer(Link& link, const ReadAnswer& answer, net::Events& events);
  static size_t fill(Link& link, const unsigned char* data, size_t bytes, net::Events& events);

  Links& links_;
  Outgoing& outgoing_;
  DatagramChannel& datagrams_;
  const net::Registered& registered_;
  std::vector<Batch> batches_;  // by lane
};

}  // namespace weft::transport::tcp
