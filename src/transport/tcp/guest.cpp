// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Who connects to us: a guest until it has proved that it is a rank of the job, which then gets its link.
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <mutex>

#include "base/clock.hpp"
#include "base/message.hpp"
#include "transport/tcp/carrier.hpp"

namespace weft::transport::tcp {
namespace {

constexpr uint64_t guest_ns = 10'000'000'000;  // that who connects has to say who it is
constexpr size_t guests_most = 64;

}  // namespace

void TcpCarrier::accept_guests() {
  while (guests_.size() < guests_most) {
    net::Socket socket = net::accept_one(listener_.socket);
    if (!socket) return;
    Guest& guest = guests_.emplace_back(std::move(socket));
    guest.until_ns = base::now_ns() + guest_ns;
    ports_[0].unsettled.fetch_add(1, std::memory_order_relaxed);
    watch(ports_[0], guest, EPOLLIN, EPOLL_CTL_ADD);
  }
}

void TcpCarrier::turn_away(Guest& guest, bool stranger) {
  if (stranger && strangers_.fetch_add(1, std::memory_order_relaxed) == 0) {
    base::warn({.cause = "somebody connected who is not a rank of this job; it is turned away, as others will be",
                .remedy = ""});
  }
  ports_[0].unsettled.fetch_sub(1, std::memory_order_relaxed);
  guests_.remove_if([&](const Guest& g) { return &g == &guest; });
}

void TcpCarrier::hear(Guest& guest) {
  const ssize_t bytes = ::recv(guest.socket.descriptor(), reinterpret_cast<char*>(&guest.said) + guest.bytes,
                               sizeof guest.said - guest.bytes, MSG_DONTWAIT);
  if (bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
  if (bytes <= 0)
    return turn_away(guest, guest.bytes != 0);  // who tries our addresses in turn may leave without a word
  guest.bytes += static_cast<size_t>(bytes);
  if (guest.bytes == sizeof guest.said) receive(guest);
}

// Two that connect to each other at once would have two connections: that of the lower rank is taken.
void TcpCarrier::receive(Guest& guest) {
  const Greeting* said = check_greeting(guest.said, proofs_, rank_, ranks_);
  if (said == nullptr || said->word != static_cast<uint16_t>(Word::hello)) return turn_away(guest, true);
  Link& peer = link(said->origin, said->lane);
  {
    const std::lock_guard guard(peer.lock);
    const State state = peer.state.load(std::memory_order_relaxed);
    const bool settled = state == State::open || state == State::lost;  // it has found another way meanwhile
    const bool given_up = said->attempt <= peer.latest;                 // a later hello was here before this one
    const bool under_way = state == State::connecting || state == State::greeting;
    const bool crossed = under_way && rank_ < said->origin;
    const Word word = crossed ? Word::crossed : Word::welcome;
    const Greeting answer = greeting(word, rank_, said->origin, said->lane, proofs_);
    const bool heard =
        !settled && !given_up &&
        ::send(guest.socket.descriptor(), &answer, sizeof answer, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof answer);
    if (heard && !crossed) {
      epoll_event none = {};
      (void)epoll_ctl(ports_[0].watch.descriptor(), EPOLL_CTL_DEL, guest.socket.descriptor(), &none);
      peer.socket = std::move(guest.socket);
      guest.socket.close();  // what the link had
      peer.answered = 0;
      peer.latest = said->attempt;
      peer.until_ns = ~uint64_t{0};  // it confirms, ends, or comes again
      settle(peer, State::welcomed);
      watch(port_of(peer), peer, EPOLLIN, EPOLL_CTL_ADD);
    }
  }
  turn_away(guest, false);
}

}  // namespace weft::transport::tcp
