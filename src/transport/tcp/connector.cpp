// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/connector.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <map>
#include <mutex>
#include <utility>

#include "base/clock.hpp"
#include "base/message.hpp"
#include "transport/api/turned_away.hpp"
#include "transport/net/network.hpp"

namespace weft::transport::tcp {
namespace {

constexpr uint64_t pause_ns = second_ns / 10;        // between two rounds of the addresses
constexpr uint64_t guest_ns = 10 * second_ns;        // for a guest to say who it is,
constexpr uint64_t guest_least_ns = second_ns / 20;  // also when others wait for its place
constexpr size_t guests_most = 256;
constexpr int guests_at_once = 16;  // then those that are in are heard

bool send_greeting(const net::Socket& socket, const Greeting& greeting) {
  return ::send(socket.descriptor(), &greeting, sizeof greeting, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof greeting);
}

// Reads on where the last call left off; how many bytes, as recv().
ssize_t read_greeting(const net::Socket& socket, Greeting& greeting, size_t at) {
  return ::recv(socket.descriptor(), reinterpret_cast<char*>(&greeting) + at, sizeof greeting - at, MSG_DONTWAIT);
}

}  // namespace

Connector::Connector(const Self& self, Links& links, Outgoing& outgoing)
    : self_(self), links_(links), outgoing_(outgoing) {
  here_.addresses = net::allowed_addresses();
  for (net::Socket& socket : net::listen_at(here_))
    listeners_.push_back({Watched::SocketKind::listener, std::move(socket)});
  listen(true);
}

void Connector::listen(bool on) {
  for (Watched& listener : listeners_) {
    if (on) {
      links_.watch(links_.port(0), listener, EPOLLIN, EPOLL_CTL_ADD);
    } else {
      links_.unwatch(links_.port(0), listener);
    }
  }
}

// ---- to a peer

void Connector::start_if_needed(Link& link) {
  if (link.state.load(std::memory_order_relaxed) != LinkState::idle || link.waiting.empty()) return;
  link.give_up_ns = base::now_ns() + self_.patience.peer;
  links_.enter(link, LinkState::connecting);
  Ended none;  // the peer's time is not up
  connect_next(link, none);
}

// Begins with the next of the peer's addresses; after the last one pauses, or gives up. A peer that says nothing may be
// computing: it finds our hello when it is in MPI again.
void Connector::connect_next(Link& link, Ended& ended) {
  const uint64_t now = base::now_ns();
  link.socket = net::connect_in_turn(link.place, link.tried, link.error);
  if (link.socket) {
    link.until_ns = now + self_.patience.address;
    links_.enter(link, LinkState::connecting);
    links_.watch(links_.port_of(link), link, EPOLLOUT, EPOLL_CTL_ADD);
    return;
  }
  if (std::exchange(link.silent, false)) {
    ++link.silences;
    link.give_up_ns = now + self_.patience.peer;
  }
  if (now > link.give_up_ns) return outgoing_.lose(link, link.error != 0 ? link.error : ETIMEDOUT, ended);
  link.until_ns = now + pause_ns;
  links_.enter(link, LinkState::pausing);
}

void Connector::advance(Link& link, Ended& ended) {
  const LinkState state = link.state.load(std::memory_order_relaxed);
  if (state != LinkState::connecting) return is_pending(state) ? hear_word(link, ended) : void();
  link.error = net::error_of(link.socket);
  if (link.error != 0) return connect_next(link, ended);
  link.answered = 0;
  be_patient(link);
  links_.enter(link, LinkState::connected);
  links_.watch(links_.port_of(link), link, EPOLLIN, EPOLL_CTL_MOD);
}

// Somebody is there.
void Connector::be_patient(Link& link) const {
  constexpr uint32_t most_doublings = 10;
  link.until_ns = base::now_ns() + (self_.patience.address << std::min(link.silences, most_doublings));
}

// The peer's next word on a connection that is not open yet.
void Connector::hear_word(Link& link, Ended& ended) {
  const LinkState state = link.state.load(std::memory_order_relaxed);
  if (state == LinkState::pausing || state == LinkState::expected) return;
  const ssize_t bytes = read_greeting(link.socket, link.answer, link.answered);
  if (bytes < 0 && later()) return;
  if (bytes <= 0) return no_word(link, bytes < 0 ? errno : ECONNRESET, ended);
  link.answered += static_cast<size_t>(bytes);
  if (link.answered < sizeof link.answer) return;
  link.answered = 0;
  if (state == LinkState::connected) return hear_challenge(link, ended);
  const Greeting& said = link.answer;
  const auto word = static_cast<GreetingWord>(said.word);
  const bool proved = is_for(said, self_.rank, self_.ranks) && said.origin == link.rank &&
                      said.proof == proof_of(word, link.talk, self_.secret);
  if (state == LinkState::welcomed) {
    // The peer has proved itself in its hello, and frames come behind this word, which would be lost with it.
    ended.changed = !proved || word != GreetingWord::confirmed;
    return ended.changed ? void() : opened(link, ended);
  }
  if (!proved) return no_word(link, EPROTO, ended);
  if (word == GreetingWord::crossed) {
    link.socket.close();
    link.tried = 0;
    link.until_ns = base::now_ns() + second_ns;
    return links_.enter(link, LinkState::expected);
  }
  const Greeting answer = greeting(GreetingWord::confirmed, self_.rank, link.talk, self_.secret);
  if (word != GreetingWord::welcome || !send_greeting(link.socket, answer)) return no_word(link, EPROTO, ended);
  opened(link, ended);
}

// Nothing is proved to the other side yet: it is told nothing that it could use elsewhere.
void Connector::hear_challenge(Link& link, Ended& ended) {
  const Greeting& said = link.answer;
  const bool understood = said.magic == greeting_magic && said.word == static_cast<uint16_t>(GreetingWord::challenge);
  if (!understood || said.origin != link.rank) return no_word(link, EPROTO, ended);
  link.talk = {.caller = self_.rank,
               .listener = link.rank,
               .lane = link.lane,
               .attempt = ++link.attempts,
               .caller_nonce = net::fresh_nonce(),
               .listener_nonce = said.nonce,
               .place = net::far_end(link.socket)};
  const Greeting hello = greeting(GreetingWord::hello, self_.rank, link.talk, self_.secret);
  if (!send_greeting(link.socket, hello)) return no_word(link, EPROTO, ended);
  be_patient(link);
  links_.enter(link, LinkState::greeting);
}

// The word will not come: that was not the peer, or it ends, or it has given this connection up.
void Connector::no_word(Link& link, int error, Ended& ended) {
  link.error = error;
  const LinkState state = link.state.load(std::memory_order_relaxed);
  if (state == LinkState::connected && error != EPROTO)
    link.silent = true;  // it has too many guests for one that computes
  if (state != LinkState::welcomed) return connect_next(link, ended);
  link.socket.close();
  link.tried = 0;
  links_.enter(link, LinkState::idle);
  start_if_needed(link);
}

void Connector::opened(Link& link, Ended& ended) {
  net::suit_to_distance(link.socket);
  net::keep_alive(link.socket);
  link.keys = keys_of(link.talk, self_.rank, self_.secret);
  Outgoing::prove_waiting(link);
  links_.enter(link, LinkState::open);
  outgoing_.flush(link, ended);
}

void Connector::look_at_time(Link& link, uint64_t now, Ended& ended) {
  const LinkState state = link.state.load(std::memory_order_relaxed);
  if (!is_pending(state) || now < link.until_ns) return;
  if (state != LinkState::pausing) link.error = ETIMEDOUT;
  if (state == LinkState::connected || state == LinkState::greeting) link.silent = true;
  connect_next(link, ended);
}

// ---- from a peer

void Connector::hear(Watched& what) {
  if (what.what == Watched::SocketKind::guest) return hear_guest(static_cast<Guest&>(what));
  accept_guests(what);
}

void Connector::accept_guests(Watched& listener) {
  Port& port = links_.port(0);
  for (int i = 0; i < guests_at_once; ++i) {
    const uint64_t now = base::now_ns();
    if (guests_.size() >= guests_most && !make_room(now)) return;
    net::Socket socket = net::accept_one(listener.socket);
    if (!socket) return net::no_descriptor(errno) ? no_descriptors(now) : void();
    Guest& guest = guests_.emplace_back(std::move(socket));
    guest.address = static_cast<uint32_t>(net::far_end(guest.socket) >> 16);
    guest.nonce = net::fresh_nonce();
    guest.from_ns = now;
    port.pending.fetch_add(1, std::memory_order_relaxed);
    links_.watch(port, guest, EPOLLIN, EPOLL_CTL_ADD);
    const Greeting challenge = greeting(GreetingWord::challenge, self_.rank, ~0u, 0, guest.nonce);
    if (!send_greeting(guest.socket, challenge)) turn_away(guest, false);
  }
}

// The oldest guest of the address with the most guests is dropped, unless it has just come.
bool Connector::make_room(uint64_t now) {
  std::map<uint32_t, size_t> guests_of;
  for (const Guest& guest : guests_) ++guests_of[guest.address];
  const auto most = std::max_element(guests_of.begin(), guests_of.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto oldest =
      std::find_if(guests_.begin(), guests_.end(), [&](const Guest& guest) { return guest.address == most->first; });
  if (oldest == guests_.end() || now - oldest->from_ns < guest_least_ns) return false;
  turn_away(*oldest, true);
  return true;
}

// The process has no descriptor left: callers wait, and come in when one is free.
void Connector::no_descriptors(uint64_t now) {
  static std::atomic<bool> told = false;
  if (!told.exchange(true, std::memory_order_relaxed)) {
    base::warn({.cause = "a process of another host connects, and there is no file descriptor for it: it waits until "
                         "one is free",
                .remedy = net::descriptor_remedy});
  }
  if (listen_again_ns_ == 0) {
    listen(false);
    links_.port(0).pending.fetch_add(1, std::memory_order_relaxed);
  }
  listen_again_ns_ = now + pause_ns;
}

void Connector::turn_away(Guest& guest, bool stranger) {
  if (stranger) count_turned_away();
  if (stranger && strangers_++ == 0) base::warn(net::unproved_connection());
  links_.port(0).pending.fetch_sub(1, std::memory_order_relaxed);
  guests_.remove_if([&](const Guest& g) { return &g == &guest; });
}

void Connector::hear_guest(Guest& guest) {
  const ssize_t bytes = read_greeting(guest.socket, guest.said, guest.bytes);
  if (bytes < 0 && later()) return;
  // A rank that tries our addresses in turn may leave without a word.
  if (bytes <= 0) return turn_away(guest, guest.bytes != 0);
  guest.bytes += static_cast<size_t>(bytes);
  if (guest.bytes == sizeof guest.said) answer(guest);
}

void Connector::answer(Guest& guest) {
  const Greeting* const said = &guest.said;
  const Talk talk = {.caller = said->origin,
                     .listener = self_.rank,
                     .lane = said->lane,
                     .attempt = said->attempt,
                     .caller_nonce = said->nonce,
                     .listener_nonce = guest.nonce,
                     .place = net::near_end(guest.socket)};
  if (!is_for(*said, self_.rank, self_.ranks) || said->word != static_cast<uint16_t>(GreetingWord::hello) ||
      said->proof != proof_of(GreetingWord::hello, talk, self_.secret)) {
    return turn_away(guest, true);
  }
  Link& peer = links_.link(said->origin, said->lane);
  {
    const std::lock_guard guard(peer.lock);
    const LinkState state = peer.state.load(std::memory_order_relaxed);
    const bool decided = state == LinkState::open || state == LinkState::lost;  // it has found another way meanwhile
    const bool given_up = said->attempt <= peer.latest;  // a later hello was here before this one
    const bool both_connect =
        state == LinkState::connecting || state == LinkState::connected || state == LinkState::greeting;
    const bool crossed = both_connect && self_.rank < said->origin;
    const GreetingWord word = crossed ? GreetingWord::crossed : GreetingWord::welcome;
    const Greeting answer = greeting(word, self_.rank, talk, self_.secret);
    const bool heard = !decided && !given_up && send_greeting(guest.socket, answer);
    if (heard && !crossed) {
      links_.unwatch(links_.port(0), guest);
      peer.socket = std::move(guest.socket);
      guest.socket.close();  // the one that the link had
      peer.answered = 0;
      peer.talk = talk;
      peer.latest = said->attempt;
      peer.until_ns = ~uint64_t{0};  // it confirms, ends, or comes again
      links_.enter(peer, LinkState::welcomed);
      links_.watch(links_.port_of(peer), peer, EPOLLIN, EPOLL_CTL_ADD);
    }
  }
  turn_away(guest, false);
}

void Connector::look_at_guests(uint64_t now) {
  for (auto guest = guests_.begin(); guest != guests_.end();) {
    const auto next = std::next(guest);
    if (now - guest->from_ns > guest_ns) turn_away(*guest, true);
    guest = next;
  }
  if (listen_again_ns_ == 0 || now < listen_again_ns_) return;
  listen_again_ns_ = 0;
  links_.port(0).pending.fetch_sub(1, std::memory_order_relaxed);
  listen(true);
}

}  // namespace weft::transport::tcp
