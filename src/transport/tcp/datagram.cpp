// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// What of the carrier is about datagrams.
#include "transport/tcp/datagram.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/clock.hpp"
#include "transport/tcp/carrier.hpp"

namespace weft::transport::tcp {
namespace {

constexpr uint32_t most_doublings = 10;
constexpr uint64_t look_ns = 250'000;  // between two looks at what is late

}  // namespace

std::span<const unsigned char> Datagrams::keep(const void* frame, size_t bytes, uint64_t now) {
  const Datagram head{datagram_magic, next_++, expected_, 0, ours_};
  std::memcpy(copy_, &head, sizeof head);
  std::memcpy(copy_ + sizeof head, frame, bytes);
  bytes_ = sizeof head + bytes;
  sent_ns_ = now;
  owes_ = false;
  return {copy_, bytes_};
}

void Datagrams::pause(uint64_t now) {
  resume_ns_ = now + (pause_ns_ << std::min(failures_++, most_doublings));
}

std::unique_ptr<unsigned char[]> Datagrams::repeat(size_t& bytes) {
  bytes = on_the_wire(bytes_);
  auto copy = std::make_unique<unsigned char[]>(bytes);
  std::memcpy(copy.get(), copy_, std::exchange(bytes_, 0));
  return copy;
}

bool Datagrams::take(const Datagram& head, bool brings_frame, bool on_connection, uint64_t now) {
  if (head.magic != datagram_magic || head.proof != theirs_) return false;
  if (bytes_ != 0 && head.taken == next_) {
    bytes_ = 0;
    failures_ = 0;
  }
  if (!brings_frame || head.number != expected_) return false;
  ++expected_;
  if (!on_connection) owes_ = true;
  taken_ns_ = now;
  return true;
}

Datagram Datagrams::acknowledgement() {
  owes_ = false;
  return {datagram_magic, next_, expected_, 0, ours_};
}

int TcpCarrier::send_prompt(uint32_t lane, net::Buffer* buffer, const void* frame, size_t bytes, net::Address to) {
  Link& peer = *reinterpret_cast<Link*>(to);
  {
    const base::LockIf guard(peer.lock, threads_);
    if (go_beside(peer, frame, bytes)) return gone;
  }
  return send(lane, buffer, frame, bytes, to);
}

// false: over the connection, this time.
bool TcpCarrier::go_beside(Link& link, const void* frame, size_t bytes) {
  if (link.state.load(std::memory_order_relaxed) != State::open || !link.waiting.empty()) return false;
  if (link.beside == nullptr) {
    invite(link);
    return false;
  }
  Datagrams& known = link.beside->known;
  const uint64_t now = base::now_ns();
  if (!link.beside->invited || bytes > Datagrams::most || !known.ready(now)) return false;
  if (known.owes()) port_of(link).owed.fetch_sub(1, std::memory_order_relaxed);
  port_of(link).kept.fetch_add(1, std::memory_order_relaxed);
  send_beside(link, known.keep(frame, bytes, now));
  return true;
}

// What the system does not take is as good as lost on the way.
void TcpCarrier::send_beside(Link& link, std::span<const unsigned char> bytes) {
  (void)::send(link.beside->socket.descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

// Opens a socket of ours at the connection's own address, and tells the peer.
void TcpCarrier::invite(Link& link) {
  const Datagrams known(proofs_.of(rank_, link.rank), proofs_.of(link.rank, rank_), patience_.pause);
  link.beside = std::make_unique<Beside>(link, known);
  Invitation invitation = {.magic = invitation_magic, .port = 0, .unused = {}};
  uint16_t port = 0;
  link.beside->socket = net::datagrams_beside(link.socket, port);
  if (link.beside->socket) watch(port_of(link), *link.beside, EPOLLIN, EPOLL_CTL_ADD);
  invitation.port = port;
  size_t sent = 0;
  if (send_now(link, &invitation, sizeof invitation, sent) == 0 && sent != sizeof invitation) {
    enqueue(link, &invitation, sent);
  }
}

void TcpCarrier::accept_invitation(Link& link, const Invitation& invitation) {
  const std::lock_guard guard(link.lock);
  if (link.state.load(std::memory_order_relaxed) != State::open) return;
  if (link.beside == nullptr) invite(link);
  link.beside->invited = link.beside->socket && invitation.port != 0 &&
                         net::connect_beside(link.beside->socket, link.socket, static_cast<uint16_t>(invitation.port));
}

int TcpCarrier::read_datagram(uint32_t lane, Port& port, Beside& beside, net::Events& events) {
  alignas(8) unsigned char bytes[sizeof(Datagram) + Datagrams::most];
  const ssize_t size = ::recv(beside.socket.descriptor(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (size < static_cast<ssize_t>(sizeof(Datagram))) return 0;
  note_heard(port, beside);
  return take_datagram(lane, beside.link, bytes, static_cast<size_t>(size), false, events) ? 1 : 0;
}

// false: it brings nothing new.
bool TcpCarrier::take_datagram(uint32_t lane, Link& link, const unsigned char* bytes, size_t size, bool on_connection,
                               net::Events& events) {
  const auto& head = *reinterpret_cast<const Datagram*>(bytes);
  const unsigned char* const frame = bytes + sizeof head;
  const size_t frame_size = size - sizeof head;
  {
    const base::LockIf guard(link.lock, threads_);
    if (link.beside == nullptr) return false;
    Datagrams& known = link.beside->known;
    const bool kept = known.keeps(), owed = known.owes();
    const bool fresh = known.take(head, frame_size != 0, on_connection, base::now_ns());
    if (kept && !known.keeps()) port_of(link).kept.fetch_sub(1, std::memory_order_relaxed);
    if (!owed && known.owes()) port_of(link).owed.fetch_add(1, std::memory_order_relaxed);
    if (!fresh) return false;
  }
  events.came(lane, frame, frame_size);
  return true;
}

void TcpCarrier::see_to_datagrams(Port& port) {
  const uint64_t now = base::now_ns();
  if (now < port.datagrams_ns) return;
  port.datagrams_ns = now + look_ns;
  const std::lock_guard guard(lock_);
  for (auto& [who, link] : links_) {
    if (&port_of(*link) != &port) continue;
    const std::lock_guard held(link->lock);
    if (link->beside == nullptr || link->state.load(std::memory_order_relaxed) != State::open) continue;
    Datagrams& known = link->beside->known;
    if (known.late(now)) {
      known.pause(now);
      repeat(*link);
    }
    if (!known.owes_long(now)) continue;
    port.owed.fetch_sub(1, std::memory_order_relaxed);
    const Datagram said = known.acknowledgement();
    send_beside(*link, {reinterpret_cast<const unsigned char*>(&said), sizeof said});
  }
}

void TcpCarrier::repeat(Link& link) {
  size_t bytes = 0, sent = 0;
  std::unique_ptr<unsigned char[]> copy = link.beside->known.repeat(bytes);
  if (send_now(link, copy.get(), bytes, sent) == 0 && sent != bytes) {
    const unsigned char* const at = copy.get() + sent;
    link.waiting.push_back({.at = at, .left = bytes - sent, .repeated = std::move(copy)});
    return;
  }
  port_of(link).kept.fetch_sub(1, std::memory_order_relaxed);
}

bool TcpCarrier::all_sent() const {
  return std::all_of(ports_.begin(), ports_.end(),
                     [](const Port& port) { return port.kept.load(std::memory_order_relaxed) == 0; });
}

}  // namespace weft::transport::tcp
