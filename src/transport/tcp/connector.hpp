// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// How a link gets its connection. The rank that sends first connects: it tries the peer's addresses in turn until the
// peer itself answers at one of them. A process that connects to us is a guest until it has proved that it is a rank of
// the job. If two ranks connect to each other at once, the lower one's connection is taken.
//
// Guests are few, and the listener takes few at a time: processes outside the job, however many, cost a rank of the job
// no more than another attempt. When all places are taken the address with the most guests gives up its oldest one.
//
// Owner: the TcpCarrier. Threads: links by any thread, with their lock; guests by the thread that polls lane 0.

#include <list>

#include "transport/tcp/outgoing.hpp"

namespace weft::transport::tcp {

// How long a peer has, in nanoseconds, and how long it is sent no datagrams after the first that was late.
struct ConnectTimes {
  uint64_t address = 3'000'000'000;  // to answer at one address; longer each time, where somebody takes our hello
  uint64_t peer = 20'000'000'000;    // to be found at any
  uint64_t pause = 100'000'000;
};

// A rank of the job.
struct Self {
  uint32_t rank, ranks;
  net::Key secret;
  ConnectTimes patience;
};

class Connector {
 public:
  // Ends the job with a message when this host has no address or no port.
  Connector(const Self& self, Links& links, Outgoing& outgoing);

  // Where this process is reached.
  const net::ListenAddresses& here() const { return here_; }

  // With the link's lock: begins to connect a link that is idle while something waits to be sent.
  void start_if_needed(Link& link);
  // With the link's lock: the socket of a link that is not open has something for us.
  void advance(Link& link, Ended& ended);
  // With the link's lock: begins anew what has taken too long.
  void look_at_time(Link& link, uint64_t now, Ended& ended);

  // Guests. `what` is the listener or a guest.
  void hear(Watched& what);
  void look_at_guests(uint64_t now);

 private:
  struct Guest : Watched {
    explicit Guest(net::Socket s) : Watched{SocketKind::guest, std::move(s)} {}
    uint32_t address = 0;
    uint64_t nonce = 0;  // of our challenge
    Greeting said;
    size_t bytes = 0;  // of it
    uint64_t from_ns = 0;
  };

  void connect_next(Link& link, Ended& ended);
  void be_patient(Link& link) const;
  void hear_word(Link& link, Ended& ended);
  void hear_challenge(Link& link, Ended& ended);
  void no_word(Link& link, int error, Ended& ended);
  void opened(Link& link, Ended& ended);
  void accept_guests(Watched& listener);
  [[nodiscard]] bool make_room(uint64_t now);
  void no_descriptors(uint64_t now);
  void listen(bool on);
  void hear_guest(Guest& guest);
  void answer(Guest& guest);
  void turn_away(Guest& guest, bool stranger);

  const Self& self_;
  Links& links_;
  Outgoing& outgoing_;
  net::ListenAddresses here_;
  std::list<Watched> listeners_;  // one for each address
  uint64_t listen_again_ns_ = 0;  // when not 0, nobody is taken in until then
  std::list<Guest> guests_;       // the oldest first
  uint64_t strangers_ = 0;
};

}  // namespace weft::transport::tcp
