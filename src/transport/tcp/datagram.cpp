// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// What of the carrier is about datagrams.
#include "transport/tcp/datagram.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/clock.hpp"
#include "transport/tcp/carrier.hpp"

namespace weft::transport::tcp {
namespace {

constexpr uint32_t most_doublings = 10;
// Links that have sockets for datagrams, and after how many frames they get them: there are programs that talk to
// thousands, once each.
constexpr size_t links_most = 256;
constexpr uint32_t frames_first = 16;

}  // namespace

bool Datagrams::ready() {
  if (!hears_ || next_ - acknowledged_ >= window) return false;
  if (resume_ns_ == 0) return true;
  if (base::now_ns() < resume_ns_) return false;
  resume_ns_ = 0;
  return true;
}

std::span<const unsigned char> Datagrams::keep(const void* frame) {
  const size_t frame_size = net::frame_bytes(frame), size = on_the_wire(sizeof(Datagram) + frame_size);
  if (copies_.size() + size > copies_.capacity() && first_ >= copies_.size() / 2) {
    copies_.erase(copies_.begin(), copies_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  const size_t at = copies_.size();
  copies_.resize(at + size);
  const Datagram head{datagram_magic, next_++, expected_, 0, ours_};
  std::memcpy(&copies_[at], &head, sizeof head);
  std::memcpy(&copies_[at + sizeof head], frame, frame_size);
  owes_ = false;
  return {&copies_[at], sizeof head + frame_size};
}

std::vector<unsigned char> Datagrams::take_back() {
  acknowledged_ = next_;
  copies_.erase(copies_.begin(), copies_.begin() + static_cast<std::ptrdiff_t>(std::exchange(first_, 0)));
  return std::exchange(copies_, {});
}

bool Datagrams::take(const Datagram& head, bool brings_frame, bool on_connection) {
  if (head.magic != datagram_magic || head.proof != theirs_) return false;
  hears_ |= !on_connection;
  if (head.taken != acknowledged_ && head.taken - acknowledged_ <= next_ - acknowledged_) {
    for (; acknowledged_ != head.taken; ++acknowledged_) {
      first_ += on_the_wire(sizeof(Datagram) + net::frame_bytes(&copies_[first_ + sizeof(Datagram)]));
    }
    failures_ = 0;
  }
  if (!brings_frame || head.number != expected_) return false;
  ++expected_;
  if (!on_connection) owes_ = true;
  return true;
}

Datagram Datagrams::acknowledgement() {
  owes_ = false;
  return {datagram_magic, next_, expected_, 0, ours_};
}

Datagrams::Look Datagrams::look() {
  const Look seen{keeps() && kept_seen_ && acknowledged_ == first_seen_, owes_ && owes_seen_};
  kept_seen_ = keeps();
  first_seen_ = acknowledged_;
  owes_seen_ = owes_;
  return seen;
}

void Datagrams::pause(uint64_t now) {
  resume_ns_ = now + (pause_ns_ << std::min(failures_++, most_doublings));
}

// false: over the connection, this time.
bool TcpCarrier::go_beside(Link& link, const void* frame, size_t bytes) {
  if (bytes > Datagrams::most || link.state.load(std::memory_order_relaxed) != State::open || !link.waiting.empty()) {
    return false;
  }
  if (link.beside == nullptr) {
    if (++link.small == frames_first) invite(link);
    return false;
  }
  Datagrams& known = link.beside->known;
  if (!link.beside->invited || !known.ready()) return false;
  send_beside(link, known.keep(frame));
  ticker_.need();
  return true;
}

// What the system does not take is as good as lost on the way.
void TcpCarrier::send_beside(Link& link, std::span<const unsigned char> bytes) {
  (void)::send(link.beside->socket.descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

// Opens a socket of ours at the connection's own address, and tells the peer.
void TcpCarrier::invite(Link& link) {
  link.beside =
      std::make_unique<Beside>(link, proofs_.of(rank_, link.rank), proofs_.of(link.rank, rank_), patience_.pause);
  uint16_t port = 0;
  {
    const std::lock_guard guard(besides_lock_);
    if (besides_.size() < links_most && ticker_.start()) {
      link.beside->socket = net::datagrams_beside(link.socket, port);
      if (link.beside->socket) besides_.push_back(&link);
    }
  }
  if (link.beside->socket) watch(port_of(link), *link.beside, EPOLLIN, EPOLL_CTL_ADD);
  const Invitation invitation = {.magic = invitation_magic, .port = port, .unused = {}};
  size_t sent = 0;
  if (send_now(link, &invitation, sizeof invitation, sent) == 0 && sent != sizeof invitation) {
    enqueue(link, &invitation, sent);
  }
}

void TcpCarrier::accept_invitation(Link& link, const Invitation& invitation) {
  const std::lock_guard guard(link.lock);
  if (link.state.load(std::memory_order_relaxed) != State::open) return;
  if (link.beside == nullptr) invite(link);
  Beside& beside = *link.beside;
  beside.invited = beside.socket && invitation.port != 0 &&
                   net::connect_beside(beside.socket, link.socket, static_cast<uint16_t>(invitation.port));
  if (beside.invited) acknowledge(link);  // so that the peer sees that datagrams come in
}

void TcpCarrier::acknowledge(Link& link) {
  const Datagram said = link.beside->known.acknowledgement();
  send_beside(link, {reinterpret_cast<const unsigned char*>(&said), sizeof said});
}

int TcpCarrier::read_datagram(uint32_t lane, Port& port, Beside& beside, net::Events& events) {
  alignas(8) unsigned char bytes[sizeof(Datagram) + Datagrams::most];
  const ssize_t size = ::recv(beside.socket.descriptor(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (size < static_cast<ssize_t>(sizeof(Datagram))) return 0;
  note_heard(port, beside);
  return take_datagram(lane, beside.link, bytes, static_cast<size_t>(size), false, events) ? 1 : 0;
}

int TcpCarrier::read_beside(uint32_t lane, Port& port, Link& link, net::Events& events) {
  Beside* beside = nullptr;
  {
    const std::lock_guard guard(link.lock);
    beside = link.beside.get();
  }
  return beside != nullptr && beside->socket ? read_datagram(lane, port, *beside, events) : 0;
}

// false: it brings nothing new.
bool TcpCarrier::take_datagram(uint32_t lane, Link& link, const unsigned char* bytes, size_t size, bool on_connection,
                               net::Events& events) {
  const auto& head = *reinterpret_cast<const Datagram*>(bytes);
  const unsigned char* const frame = bytes + sizeof head;
  const size_t frame_size = size - sizeof head;
  {
    const std::lock_guard guard(link.lock);
    if (link.beside == nullptr || !link.beside->known.take(head, frame_size != 0, on_connection)) return false;
  }
  if (!on_connection) ticker_.need();
  (void)events.came(lane, frame, frame_size);
  return true;
}

// From a thread of its own. Whether it is to be called again.
bool TcpCarrier::see_to_datagrams() {
  const std::lock_guard guard(besides_lock_);
  bool needed = false;
  for (Link* link : besides_) {
    const std::unique_lock held(link->lock, std::try_to_lock);
    if (!held.owns_lock()) {  // somebody is at it, who need not wait for us
      needed = true;
      continue;
    }
    if (link->state.load(std::memory_order_relaxed) != State::open) continue;
    Datagrams& known = link->beside->known;
    const Datagrams::Look look = known.look();
    if (look.late) {
      known.pause(base::now_ns());
      repeat(*link);
    }
    if (look.owed) acknowledge(*link);
    needed |= known.waits();
  }
  return needed;
}

void TcpCarrier::repeat(Link& link) {
  std::vector<unsigned char> copies = link.beside->known.take_back();
  size_t sent = 0;
  if (send_now(link, copies.data(), copies.size(), sent) == 0 && sent != copies.size()) {
    link.waiting.push_back(rest_of(std::move(copies), sent));
  }
}

TcpCarrier::Waiting TcpCarrier::rest_of(std::vector<unsigned char>&& copies, size_t sent) {
  const unsigned char* const at = copies.data() + sent;
  const size_t left = copies.size() - sent;
  return {.at = at, .left = left, .repeated = std::move(copies)};
}

bool TcpCarrier::all_sent() const {
  const std::lock_guard guard(besides_lock_);
  return std::all_of(besides_.begin(), besides_.end(), [](Link* link) {
    const std::unique_lock held(link->lock, std::try_to_lock);
    if (!held.owns_lock()) return false;
    if (link->state.load(std::memory_order_relaxed) != State::open) return true;
    return !link->beside->known.keeps() &&
           std::all_of(link->waiting.begin(), link->waiting.end(), [](const Waiting& w) { return w.repeated.empty(); });
  });
}

}  // namespace weft::transport::tcp
