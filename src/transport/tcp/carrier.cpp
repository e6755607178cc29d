// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/carrier.hpp"

#include <poll.h>
#include <sys/epoll.h>

#include <mutex>
#include <utility>

#include "base/clock.hpp"

namespace weft::transport::tcp {
namespace {

constexpr uint32_t look_every = 8;         // polls, when the link heard from last has nothing
constexpr size_t piece_bytes = 512 << 10;  // of a read: frames behind it to the same peer wait for so much

// A rank's published record of a lane, before the address where it listens.
struct Published {
  uint32_t rank, lane;
};

}  // namespace

TcpCarrier::TcpCarrier(uint32_t lanes, int rank, int ranks, std::string_view secret, bool threads,
                       ConnectTimes patience)
    : self_{static_cast<uint32_t>(rank), static_cast<uint32_t>(ranks), net::Key::of_secret(secret), patience},
      links_(lanes, threads),
      outgoing_(links_),
      connector_(self_, links_, outgoing_),
      datagrams_(self_, links_, outgoing_),
      incoming_(lanes, links_, outgoing_, datagrams_, registered_) {}

std::string TcpCarrier::address(uint32_t lane) {
  const Published published{self_.rank, lane};
  return std::string(reinterpret_cast<const char*>(&published), sizeof published) + connector_.here().bytes();
}

bool TcpCarrier::insert(std::string_view bytes, net::Address& address) {
  Published published;
  if (bytes.size() < sizeof published) return false;
  bytes.copy(reinterpret_cast<char*>(&published), sizeof published);
  net::ListenAddresses place;
  if (!place.parse(bytes.substr(sizeof published)) || published.rank >= self_.ranks || published.lane >= max_lanes) {
    return false;
  }
  Link& peer = links_.link(published.rank, published.lane);
  const std::lock_guard guard(peer.lock);
  peer.place = std::move(place);
  address = reinterpret_cast<net::Address>(&peer);
  return true;
}

// A socket that is closed with something unread drops what is still on its way.
void TcpCarrier::linger() {
  constexpr uint64_t most_ns = 2 * second_ns;
  const uint64_t until_ns = base::now_ns() + most_ns;
  while (!links_.all_taken() && base::now_ns() < until_ns) (void)::poll(nullptr, 0, 1);
}

int TcpCarrier::send(uint32_t, net::Buffer* buffer, const void* frame, size_t bytes, net::Address to) {
  Link& peer = *reinterpret_cast<Link*>(to);
  auto* const at = buffer->bytes + (static_cast<const unsigned char*>(frame) - buffer->bytes);
  const std::lock_guard guard(peer.lock);
  if (datagrams_.send(peer, at, bytes)) return gone;
  const int result = outgoing_.send(peer, buffer, at, bytes);
  connector_.start_if_needed(peer);
  return result;
}

int TcpCarrier::push(net::Buffer* buffer, const void* data, size_t bytes, net::Address to) {
  Link& peer = *reinterpret_cast<Link*>(to);
  const std::lock_guard guard(peer.lock);
  const int result = outgoing_.push(peer, buffer, data, bytes);
  connector_.start_if_needed(peer);
  return result;
}

size_t TcpCarrier::read_most() const {
  return piece_bytes;
}

bool TcpCarrier::register_memory(void* memory, size_t bytes, Access access, MemoryRef& ref) {
  if (access != Access::read) return false;
  ref = {reinterpret_cast<uint64_t>(memory), registered_.add(memory, bytes)};
  return true;
}

// The link of the lane that polls for the answer.
int TcpCarrier::read(uint32_t lane, net::Address from, const MemoryRef& memory, size_t at, void* to, size_t bytes,
                     Read& read) {
  Link& first = *reinterpret_cast<Link*>(from);
  Link& peer = first.lane == lane ? first : links_.link(first.rank, lane);
  if (&peer != &first) {
    const std::scoped_lock guard(first.lock, peer.lock);
    peer.place = first.place;
  }
  const std::lock_guard guard(peer.lock);
  if (peer.state.load(std::memory_order_relaxed) == LinkState::lost) return peer.error;
  const int error = incoming_.ask(peer, memory, at, to, bytes, read);
  connector_.start_if_needed(peer);
  return error;
}

int TcpCarrier::poll(uint32_t lane, net::Events& events) {
  Port& port = links_.port(lane);
  if (incoming_.holds(lane)) return incoming_.deliver(lane, events);
  if (port.recent != nullptr) {
    if (const int told = read_from(lane, *port.recent, events)) return told;
    if (++port.looks % look_every != 0) return 0;
  }
  if (port.pending.load(std::memory_order_relaxed) != 0) [[unlikely]]
    look_at_time(lane, events);
  return look(lane, events);
}

// Reads from an open connection, or from the datagrams beside it.
int TcpCarrier::read_from(uint32_t lane, Watched& what, net::Events& events) {
  if (what.what == Watched::SocketKind::datagrams) return datagrams_.read(lane, static_cast<Beside&>(what), events);
  return incoming_.read(lane, static_cast<Link&>(what), events);
}

// Serves all sockets of the lane that have something for us.
int TcpCarrier::look(uint32_t lane, net::Events& events) {
  epoll_event ready[16];
  const int count = epoll_wait(links_.port(lane).watch.descriptor(), ready, 16, 0);
  if (count < 0 && errno != EINTR) [[unlikely]]
    links_.port(lane).watch.check();
  int told = 0;
  for (int i = 0; i < count; ++i) {
    auto& what = *static_cast<Watched*>(ready[i].data.ptr);
    switch (what.what) {
      case Watched::SocketKind::listener:
      case Watched::SocketKind::guest:
        connector_.hear(what);
        break;
      case Watched::SocketKind::datagrams:
        told += read_from(lane, what, events);
        break;
      case Watched::SocketKind::link:
        told += look_at_link(lane, static_cast<Link&>(what), ready[i].events, events);
        break;
    }
  }
  return told;
}

int TcpCarrier::look_at_link(uint32_t lane, Link& link, uint32_t ready, net::Events& events) {
  if (link.state.load(std::memory_order_acquire) == LinkState::open && (ready & EPOLLOUT) == 0) {
    return incoming_.read(lane, link, events);
  }
  Ended ended;
  {
    const std::lock_guard guard(link.lock);
    if (link.state.load(std::memory_order_relaxed) == LinkState::open) {
      outgoing_.flush(link, ended);
    } else {
      connector_.advance(link, ended);
    }
  }
  ended.report(lane, events);
  if (ended.changed) outgoing_.end_changed(lane, link, events);
  return 0;
}

// Begins anew what has taken too long, and reports what will not come over links that are lost.
void TcpCarrier::look_at_time(uint32_t lane, net::Events& events) {
  Port& port = links_.port(lane);
  const uint64_t now = base::now_ns();
  if (now < port.look_ns) return;
  port.look_ns = now + second_ns / 50;
  std::vector<Link*> broken;
  for (Link* link : links_.not_open(port)) {
    Ended ended;
    {
      const std::lock_guard guard(link->lock);
      const bool lost = link->state.load(std::memory_order_relaxed) == LinkState::lost;
      if (lost && link->fills.exchange(false, std::memory_order_relaxed)) broken.push_back(link);
      connector_.look_at_time(*link, now, ended);
    }
    ended.report(lane, events);
  }
  for (Link* link : broken) incoming_.give_up(*link, events);
  if (lane == 0) connector_.look_at_guests(now);
}

bool TcpCarrier::may_sleep() {
  links_.watch_all();
  return !incoming_.holds_any();
}

}  // namespace weft::transport::tcp
