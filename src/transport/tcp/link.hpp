// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The table of a process's connections: one link for each pair of lanes that talk, and one port for each lane of ours,
// whose epoll descriptor watches the sockets of its links.
//
// Owner: the TcpCarrier. Lifetime: a link stays where it is from its first mention until the table goes.
// Threads: a link's lock guards what is not marked as its poller's. The poller of a link is the thread that polls its
// port; once the link is open, the poller alone reads the link's sockets, without the lock. A port belongs to the
// thread that polls it, but for what is atomic.

#include <sys/types.h>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/lock.hpp"
#include "transport/net/carrier.hpp"
#include "transport/net/socket.hpp"
#include "transport/tcp/datagram.hpp"
#include "transport/tcp/greeting.hpp"
#include "transport/tcp/reading.hpp"

namespace weft::transport::tcp {

inline constexpr uint64_t second_ns = 1'000'000'000;

// Whether a system call that failed is to be repeated later, as errno says.
[[nodiscard]] bool later();

// A socket that a port watches.
struct Watched {
  enum class SocketKind : uint8_t { listener, guest, link, datagrams } what;
  net::Socket socket;
};

enum class LinkState : uint8_t {
  idle,        // nobody has connected
  connecting,  // to the address `tried`
  connected,   // the peer's challenge has not come
  greeting,    // we have said hello; the answer has not come
  pausing,     // no address answered; to be tried again
  expected,    // the peer connects to us
  welcomed,    // it has, and has not confirmed it: it may have given up and come again
  open,
  lost,
};
constexpr bool is_pending(LinkState state) {
  return state != LinkState::idle && state != LinkState::open && state != LinkState::lost;
}

// Bytes that the system has not taken yet: of a buffer, of memory that a peer reads, or the `head` in front of that.
struct UnsentBytes {
  const unsigned char* at = nullptr;
  size_t left = 0;
  net::Buffer* buffer = nullptr;
  std::vector<unsigned char> repeated{};  // copies of datagrams
  alignas(16) unsigned char head[item_least];
};

// A request to a peer.
struct Asked {
  uint64_t number;
  Read* read;
  unsigned char* to;
  size_t bytes;
};

// The incoming part of a request, or of pushed data: the bytes that have a place, and the bytes behind them to drop.
struct Filling {
  enum class FillTarget : uint8_t { nothing, read, pushed } what = FillTarget::nothing;
  Read* read = nullptr;  // nullptr: no receive for the pushed data
  unsigned char* to = nullptr;
  size_t left = 0;
  size_t drop = 0;
  uint32_t check = 0;  // of `bytes` that have all come to their place; 0: none, or some are dropped
  size_t bytes = 0;
};

struct Link;

// The datagrams beside a connection.
struct Beside : Watched {
  Beside(Link& l, uint64_t pause_ns);
  Link& link;
  bool answered = false;  // the peer's invitation has come,
  bool invited = false;   // and the socket leads to where it says
  Datagrams known;
};

// The connection to one lane of a peer.
struct Link : Watched {
  Link(uint32_t r, uint32_t l) : Watched{SocketKind::link, {}}, rank(r), lane(l) {}
  const uint32_t rank, lane;
  base::Lock lock;
  std::atomic<LinkState> state = LinkState::idle;  // changed by Links::enter()
  int error = 0;                                   // why it is lost, or why the last attempt failed

  // The Connector's.
  net::ListenAddresses place;
  size_t tried = 0;
  uint32_t attempts = 0;    // connections of ours on which we have said hello
  uint32_t latest = 0;      // the number of the peer's attempt that was welcomed last
  uint64_t until_ns = 0;    // when to give up what `state` tells
  uint64_t give_up_ns = 0;  // when to give up altogether
  bool silent = false;      // one of the addresses has taken our hello and not answered,
  uint32_t silences = 0;    // in so many rounds of all addresses
  Talk talk;                // on the connection
  Greeting answer;
  size_t answered = 0;  // bytes of it

  // Since it is open.
  Keys keys;

  // The Outgoing's.
  std::deque<UnsentBytes> waiting;
  uint32_t queued = 0;  // buffers of these

  // The DatagramChannel's.
  uint32_t small = 0;  // frames that could have gone as datagrams, until there are sockets for them
  std::unique_ptr<Beside> beside;

  // The Incoming's, and so the poller's.
  std::vector<unsigned char> partial;  // an item whose rest has not come
  std::vector<Asked> asked;
  std::atomic<bool> fills = false;  // whether there are any, or something is filling
  uint64_t last_number = 0;         // of what we asked for
  uint64_t their_number = 0;        // of what the peer asked for
  Filling filling;
};

inline Beside::Beside(Link& l, uint64_t pause_ns)
    : Watched{SocketKind::datagrams, {}}, link(l), known(l.keys, pause_ns) {}

// A lane of ours.
struct Port {
  net::Socket watch;          // an epoll descriptor
  Watched* recent = nullptr;  // the socket heard from last, which is looked at first
  // This socket too, where nothing else has been heard for a while: epoll does not watch it. Never set with several
  // threads. Guarded by the lock of its link.
  std::atomic<Watched*> unwatched = nullptr;
  uint32_t heard = 0;      // receipts from `recent` and no other
  uint32_t elsewhere = 0;  // receipts from others since
  uint32_t looks = 0;
  uint64_t look_ns = 0;               // when to look for what has taken too long
  std::atomic<uint32_t> pending = 0;  // links on the way to being open, guests, and lost links with reads to report
};

// Buffers that are no longer in use, to be reported when no lock is held.
struct Ended {
  net::Buffer* first = nullptr;
  int error = 0;
  bool changed = false;  // data of the link were changed on their way: the link ends, and the job

  void add(net::Buffer* buffer) { buffer->next = std::exchange(first, buffer); }
  void report(uint32_t lane, net::Events& events) const;
};

class Links {
 public:
  // Without `threads` one thread at a time calls.
  Links(uint32_t lanes, bool threads);

  // The link to a lane of a peer; made at its first mention. Thread-safe.
  Link& link(uint32_t rank, uint32_t lane);
  static Link& link_of(Watched& what) {
    return what.what == Watched::SocketKind::link ? static_cast<Link&>(what) : static_cast<Beside&>(what).link;
  }
  // The links of a port that are not open. Thread-safe.
  std::vector<Link*> not_open(const Port& port);
  // Whether other hosts have acknowledged all that was handed to the system. Thread-safe.
  bool all_taken();

  Port& port(uint32_t lane) { return ports_[lane]; }
  Port& port_of(const Link& link) { return ports_[link.lane & (ports_.size() - 1)]; }
  // A descriptor that is readable when a watched socket of any port is.
  int wait_descriptor() const { return all_ports_ ? all_ports_.descriptor() : ports_[0].watch.descriptor(); }

  // `operation` as of epoll_ctl(). The link's lock is held for its sockets.
  void watch(Port& port, Watched& what, uint32_t events, int operation);
  void unwatch(Port& port, Watched& what);

  // A change of state, with the link's lock.
  void enter(Link& link, LinkState state);

  // Something came in from there, which tells where to look next.
  void note_heard(Port& port, Watched& what);
  // All sockets are watched again: the process may sleep on wait_descriptor().
  void watch_all();

 private:
  void watch_all(Port& port);

  const bool threads_;
  std::vector<Port> ports_;
  net::Socket all_ports_;  // an epoll descriptor of theirs, where they are several
  base::Lock lock_;        // of the map
  std::map<std::pair<uint32_t, uint32_t>, std::unique_ptr<Link>> links_;
};

}  // namespace weft::transport::tcp
