// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Frames carried by TCP, with nothing but the system in between: one connection for each pair of lanes that talk, made
// by who sends first, for both ways. The addresses of a peer are tried in turn until the peer itself answers at one of
// them. What the system does not take at once waits here and is sent with what came after it in one call. Pushed data
// go from where they lie, and what of them does not come in at once with their header, straight to where it shall be.
// Between lanes that talk more than a few times small frames go as datagrams.

#include <sys/types.h>

#include <atomic>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/lock.hpp"
#include "base/ticker.hpp"
#include "transport/net/carrier.hpp"
#include "transport/net/socket.hpp"
#include "transport/tcp/datagram.hpp"
#include "transport/tcp/greeting.hpp"
#include "transport/tcp/reading.hpp"

struct iovec;

namespace weft::transport::tcp {

// How long a peer has, in nanoseconds, and how long it is sent no datagrams after the first that was late.
struct Patience {
  uint64_t address = 3'000'000'000;  // to answer at one address; who says nothing there, longer each time
  uint64_t peer = 20'000'000'000;    // to be found at any
  uint64_t pause = 100'000'000;
};

class TcpCarrier final : public net::Carrier {
 public:
  // `secret` of the job, as of net::Proofs. Without `threads` one at a time calls. Ends the job with a message when
  // this host has no address.
  TcpCarrier(uint32_t lanes, int rank, int ranks, std::string_view secret, bool threads = true, Patience patience = {});

  const char* name() const override { return "tcp"; }
  std::string address(uint32_t lane) override;
  bool insert(std::string_view bytes, net::Address& address) override;
  int send(uint32_t lane, net::Buffer* buffer, const void* start, size_t bytes, net::Address to) override;
  bool all_sent() const override;
  bool pushes() const override { return true; }
  int push(net::Buffer* buffer, const void* data, size_t bytes, net::Address to) override;
  bool reads() const override;
  int64_t reads_from() const override { return net::tcp_reads_from; }
  size_t read_most() const override;
  bool expose(const void* memory, size_t bytes, MemoryRef& ref) override;
  void conceal(uint64_t key) override { exposed_.remove(key); }
  int read(uint32_t lane, net::Address from, const MemoryRef& memory, size_t at, void* to, size_t bytes,
           Read& read) override;
  int poll(uint32_t lane, net::Events& events) override;
  int wait_descriptor() const override { return all_ports_ ? all_ports_.descriptor() : ports_[0].watch.descriptor(); }
  bool may_sleep() override;
  std::string error_text(int error) const override { return net::text_of_error(error); }

 private:
  // A socket that a port watches.
  struct Watched {
    enum class What : uint8_t { listener, guest, link, datagrams } what;
    net::Socket socket;
  };

  enum class State : uint8_t {
    idle,        // nobody has connected
    connecting,  // to the address `tried`
    greeting,    // connected; the answer to our greeting has not come
    pausing,     // no address answered; to be tried again
    expected,    // the peer connects to us
    welcomed,    // it has, and has not confirmed it: it may have given up and come again
    open,
    lost,
  };

  // What the system has not taken yet: of a buffer, of memory that a peer reads, or the `head` in front of that.
  struct Waiting {
    const unsigned char* at = nullptr;
    size_t left = 0;
    net::Buffer* buffer = nullptr;
    std::vector<unsigned char> repeated{};  // copies of datagrams
    alignas(16) unsigned char head[item_least];
  };

  // What a peer was asked for.
  struct Asked {
    uint64_t number;
    Read* read;
    unsigned char* to;
    size_t bytes;
  };
  // What is coming in of that, or of what is pushed: how much of it has a place, and how much after it is dropped.
  struct Filling {
    enum class What : uint8_t { nothing, read, pushed } what = What::nothing;
    Read* read = nullptr;  // nullptr: nobody wants what is pushed
    unsigned char* to = nullptr;
    size_t left = 0;
    size_t drop = 0;
  };

  struct Link;
  // What goes beside a connection.
  struct Beside : Watched {
    Beside(Link& l, uint64_t ours, uint64_t theirs, uint64_t pause_ns)
        : Watched{What::datagrams, {}}, link(l), known(ours, theirs, pause_ns) {}
    Link& link;
    bool invited = false;  // the socket leads to the peer's
    Datagrams known;
  };

  // The connection to one lane of a peer.
  struct Link : Watched {
    Link(uint32_t r, uint32_t l) : Watched{What::link, {}}, rank(r), lane(l) {}
    const uint32_t rank, lane;
    base::Lock lock;  // of what is not the poller's; once open, that one reads the sockets without it
    std::atomic<State> state = State::idle;
    net::Place place;
    size_t tried = 0;
    uint32_t attempts = 0;    // connections of ours on which we have said hello
    uint32_t latest = 0;      // the number of the peer's attempt that was welcomed last
    uint64_t until_ns = 0;    // when to give up what state tells
    uint64_t give_up_ns = 0;  // when to give up altogether
    bool silent = false;      // at one of the addresses somebody has taken our hello and not answered,
    uint32_t silences = 0;    // in so many rounds of all addresses
    int error = 0;
    Greeting answer;
    size_t answered = 0;  // bytes of it
    std::deque<Waiting> waiting;
    uint32_t queued = 0;  // buffers of these
    uint32_t small = 0;   // frames that could have gone as datagrams, until there are sockets for them
    std::unique_ptr<Beside> beside;
    // The poller's.
    std::vector<unsigned char> partial;  // an item of which the rest has not come
    std::vector<Asked> asked;
    std::atomic<bool> fills = false;  // whether there are any, or something is filling
    uint64_t last_number = 0;
    Filling filling;
  };

  // Somebody who has connected and not said who it is.
  struct Guest : Watched {
    explicit Guest(net::Socket s) : Watched{What::guest, std::move(s)} {}
    Greeting said;
    size_t bytes = 0;  // of it
    uint64_t until_ns = 0;
  };

  // A lane of ours.
  struct Port {
    net::Socket watch;          // an epoll descriptor
    Watched* recent = nullptr;  // what it hears from; looked at first
    // The same, where it alone has been heard for a while; never with several threads. Under the lock of its link.
    std::atomic<Watched*> unwatched = nullptr;
    uint32_t heard = 0;      // receipts from `recent` and no other
    uint32_t elsewhere = 0;  // receipts from others since
    uint32_t looks = 0;
    uint64_t look_ns = 0;                 // when to look at what has taken too long
    std::atomic<uint32_t> unsettled = 0;  // links on the way to being open, and guests
    std::unique_ptr<unsigned char[]> incoming;
    Link* source = nullptr;  // of the frames in [at, end) of `incoming`, which have not been told
    size_t at = 0, end = 0;
    std::atomic<bool> untold = false;  // whether there are any
  };

  // Buffers that are no longer in use, to be told when no lock is held.
  struct Ended {
    net::Buffer* first = nullptr;
    int error = 0;
  };

  Link& link(uint32_t rank, uint32_t lane);
  static Link& link_of(Watched& what) {
    return what.what == Watched::What::link ? static_cast<Link&>(what) : static_cast<Beside&>(what).link;
  }
  Port& port_of(const Link& link) { return ports_[link.lane & (ports_.size() - 1)]; }
  void watch(Port& port, Watched& what, uint32_t events, int operation);
  void unwatch(Port& port, Watched& what);

  void note_heard(Port& port, Watched& what);
  void watch_all(Port& port);
  int look(uint32_t lane, Port& port, net::Events& events);
  int read(uint32_t lane, Port& port, Link& link, net::Events& events);
  int read_datagram(uint32_t lane, Port& port, Beside& beside, net::Events& events);
  int read_beside(uint32_t lane, Port& port, Link& link, net::Events& events);
  bool take_datagram(uint32_t lane, Link& link, const unsigned char* bytes, size_t size, bool on_connection,
                     net::Events& events);
  void accept_invitation(Link& link, const Invitation& invitation);
  bool see_to_datagrams();
  int tell(uint32_t lane, Port& port, net::Events& events);
  void answer(uint32_t lane, Link& link, const Ask& ask, net::Events& events);
  bool begin_landing(uint32_t lane, Link& link, const net::Header& header, net::Events& events);
  bool begin_filling(Link& link, const Answer& answer, net::Events& events);
  size_t fill(Link& link, const unsigned char* data, size_t bytes, net::Events& events);
  void give_up_filling(Link& link, net::Events& events);
  void lose(uint32_t lane, Link& link, int error, net::Events& events);
  void tell_ended(uint32_t lane, const Ended& ended, net::Events& events);

  // These are called with the link's lock.
  void start(Link& link);
  int send_now(Link& link, const void* at, size_t bytes, size_t& sent);
  int send_parts_now(Link& link, std::span<const iovec> parts, size_t bytes, size_t& sent);
  int taken_of(Link& link, ssize_t taken, size_t bytes, size_t& sent);
  void enqueue(Link& link, const void* head, size_t sent);
  void invite(Link& link);
  bool go_beside(Link& link, const void* frame, size_t bytes);
  void send_beside(Link& link, std::span<const unsigned char> bytes);
  void acknowledge(Link& link);
  void repeat(Link& link);
  static Waiting rest_of(std::vector<unsigned char>&& copies, size_t sent);
  void flush(Link& link, Ended& ended);
  void advance(Link& link, Ended& ended);
  void connect_next(Link& link, Ended& ended);
  void hear_word(Link& link, Ended& ended);
  void no_word(Link& link, int error, Ended& ended);
  void opened(Link& link, Ended& ended);
  void lose(Link& link, int error, Ended& ended);
  void settle(Link& link, State state);

  void accept_guests();
  void hear(Guest& guest);
  void receive(Guest& guest);
  void turn_away(Guest& guest, bool stranger);
  void see_to_time(uint32_t lane, Port& port, net::Events& events);

  const uint32_t rank_, ranks_;
  const bool threads_;
  const net::Proofs proofs_;
  const Patience patience_;
  net::Place here_;
  Exposed exposed_;
  Watched listener_{Watched::What::listener, {}};
  std::vector<Port> ports_;
  net::Socket all_ports_;    // an epoll descriptor of theirs, where they are several
  std::list<Guest> guests_;  // by who polls lane 0 alone
  base::Lock lock_;          // of the map
  std::map<std::pair<uint32_t, uint32_t>, std::unique_ptr<Link>> links_;
  std::atomic<uint64_t> strangers_ = 0;
  mutable base::Lock besides_lock_;  // of what follows; after a link's
  std::vector<Link*> besides_;       // what has a socket for datagrams
  base::Ticker ticker_;              // sees to these; the last, so that it ends first
};

}  // namespace weft::transport::tcp
