// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/channel.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/clock.hpp"

namespace weft::transport::tcp {
namespace {

constexpr std::chrono::milliseconds tick_every(2);
constexpr uint32_t ticks_in_vain = 50;
// How many links get sockets for datagrams, and after how many frames: there are programs that talk to thousands, once
// each.
constexpr size_t links_most = 256;
constexpr uint32_t frames_first = 16;

}  // namespace

DatagramChannel::DatagramChannel(const Self& self, Links& links, Outgoing& outgoing)
    : self_(self), links_(links), outgoing_(outgoing), ticker_(tick_every, ticks_in_vain, [this] { return tick(); }) {}

bool DatagramChannel::send(Link& link, const void* frame, size_t bytes) {
  if (bytes > Datagrams::most || link.state.load(std::memory_order_relaxed) != LinkState::open ||
      !link.waiting.empty()) {
    return false;
  }
  if (link.beside == nullptr) {
    if (++link.small == frames_first) invite(link);
    return false;
  }
  Datagrams& known = link.beside->known;
  if (!link.beside->invited || !known.ready()) return false;
  send_datagram(link, known.keep(frame));
  ticker_.need();
  return true;
}

// A datagram that the system does not take is as good as lost on the way.
void DatagramChannel::send_datagram(Link& link, std::span<const unsigned char> bytes) {
  (void)::send(link.beside->socket.descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

// Opens a socket of ours at the connection's own address, and tells the peer.
void DatagramChannel::invite(Link& link) {
  link.beside = std::make_unique<Beside>(link, self_.patience.pause);
  uint16_t port = 0;
  {
    const std::lock_guard guard(lock_);
    if (links_with_sockets_.size() < links_most && ticker_.start()) {
      link.beside->socket = net::datagrams_beside(link.socket, port);
      if (link.beside->socket) links_with_sockets_.push_back(&link);
    }
  }
  if (link.beside->socket) links_.watch(links_.port_of(link), *link.beside, EPOLLIN, EPOLL_CTL_ADD);
  Invitation invitation = {.magic = invitation_magic, .port = port, .unused = {}, .proof = 0};
  invitation.proof = proof_of(invitation, link.keys.ours);
  (void)outgoing_.send_item(link, &invitation);
}

bool DatagramChannel::accept(Link& link, const Invitation& invitation) {
  const std::lock_guard guard(link.lock);
  if (link.state.load(std::memory_order_relaxed) != LinkState::open) return true;
  if (invitation.proof != proof_of(invitation, link.keys.theirs)) return false;
  if (link.beside == nullptr) invite(link);
  Beside& beside = *link.beside;
  if (std::exchange(beside.answered, true)) return false;  // it comes once
  beside.invited = beside.socket && invitation.port != 0 &&
                   net::connect_beside(beside.socket, link.socket, static_cast<uint16_t>(invitation.port));
  if (beside.invited) acknowledge(link);  // so that the peer sees that datagrams come in
  return true;
}

void DatagramChannel::acknowledge(Link& link) {
  const Datagram said = link.beside->known.acknowledgement();
  send_datagram(link, {reinterpret_cast<const unsigned char*>(&said), sizeof said});
}

int DatagramChannel::read(uint32_t lane, Beside& beside, net::Events& events) {
  alignas(8) unsigned char bytes[sizeof(Datagram) + Datagrams::most];
  const ssize_t size = ::recv(beside.socket.descriptor(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (size < static_cast<ssize_t>(sizeof(Datagram))) return 0;
  const Datagrams::Taken taken = take(beside.link, bytes, static_cast<size_t>(size), false);
  if (taken == Datagrams::Taken::nothing) return 0;  // damaged, or not from the peer
  links_.note_heard(links_.port(lane), beside);
  if (taken == Datagrams::Taken::known) return 0;
  const auto came = events.came(lane, bytes + sizeof(Datagram), static_cast<size_t>(size) - sizeof(Datagram));
  if (came == net::Events::Came::refused) outgoing_.end_changed(lane, beside.link, events);
  return 1;
}

int DatagramChannel::read_beside(uint32_t lane, Link& link, net::Events& events) {
  Beside* beside = nullptr;
  {
    const std::lock_guard guard(link.lock);
    beside = link.beside.get();
  }
  return beside != nullptr && beside->socket ? read(lane, *beside, events) : 0;
}

bool DatagramChannel::believes(Link& link, const Datagram& head) {
  const std::lock_guard guard(link.lock);
  return link.beside != nullptr && link.beside->known.is_theirs(head);
}

bool DatagramChannel::repeated(uint32_t lane, Link& link, const unsigned char* bytes, size_t size,
                               net::Events& events) {
  const Datagrams::Taken taken = take(link, bytes, size, true);
  if (taken != Datagrams::Taken::frame) return taken == Datagrams::Taken::known;
  return events.came(lane, bytes + sizeof(Datagram), size - sizeof(Datagram)) != net::Events::Came::refused;
}

Datagrams::Taken DatagramChannel::take(Link& link, const unsigned char* bytes, size_t size, bool on_connection) {
  Datagram head;
  std::memcpy(&head, bytes, sizeof head);
  const std::lock_guard guard(link.lock);
  if (link.beside == nullptr) return Datagrams::Taken::nothing;
  const Datagrams::Taken taken = link.beside->known.take(head, size, on_connection);
  if (taken == Datagrams::Taken::frame && !on_connection) ticker_.need();
  return taken;
}

// From the service thread. Whether it is to be called again.
bool DatagramChannel::tick() {
  const std::lock_guard guard(lock_);
  bool needed = false;
  for (Link* link : links_with_sockets_) {
    const std::unique_lock held(link->lock, std::try_to_lock);
    if (!held.owns_lock()) {  // another thread works on it, which need not wait for us
      needed = true;
      continue;
    }
    if (link->state.load(std::memory_order_relaxed) != LinkState::open) continue;
    Datagrams& known = link->beside->known;
    const Datagrams::Look look = known.look();
    if (look.late) {
      known.pause(base::now_ns());
      outgoing_.repeat(*link, known.take_back());
    }
    if (look.owed) acknowledge(*link);
    needed |= known.waits();
  }
  return needed;
}

bool DatagramChannel::all_sent() const {
  const std::lock_guard guard(lock_);
  return std::all_of(links_with_sockets_.begin(), links_with_sockets_.end(), [](Link* link) {
    const std::unique_lock held(link->lock, std::try_to_lock);
    if (!held.owns_lock()) return false;
    if (link->state.load(std::memory_order_relaxed) != LinkState::open) return true;
    return !link->beside->known.keeps() && std::all_of(link->waiting.begin(), link->waiting.end(),
                                                       [](const UnsentBytes& w) { return w.repeated.empty(); });
  });
}

}  // namespace weft::transport::tcp
