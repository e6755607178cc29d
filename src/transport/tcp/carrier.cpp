// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/carrier.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/clock.hpp"
#include "base/message.hpp"
#include "transport/net/network.hpp"

namespace weft::transport::tcp {
namespace {

constexpr uint64_t second_ns = 1'000'000'000;
constexpr uint64_t pause_ns = second_ns / 10;  // between two rounds of them
constexpr uint32_t queued_most = 16;           // buffers of a link, so that others are left for other peers
// Read at once. As much as that of what goes elsewhere is copied, which takes less time than first to see where: 64 KiB
// move at 3.3 GB/s, and at 3.0 where only 4 KiB are read at once (bench/bandwidth between two hosts).
constexpr size_t incoming_bytes = 128 << 10;
constexpr size_t parts_most = 16;       // sent in one call
constexpr int told_most = 64;           // frames in one poll
constexpr uint32_t look_every = 8;      // polls, when the link heard from last has nothing
constexpr uint32_t unwatch_after = 64;  // receipts from one link alone
constexpr std::chrono::milliseconds look_at_datagrams(2);
constexpr uint32_t looks_in_vain = 50;
static_assert(incoming_bytes >= 2 * net::frame_most);

static_assert(on_the_wire(net::frame_most) == net::frame_most);

// What a rank publishes of a lane.
struct Published {
  uint32_t rank, lane;
};

bool later() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

net::Socket new_epoll() {
  net::Socket watch(epoll_create1(EPOLL_CLOEXEC));
  if (!watch) {
    base::die({.cause = "no epoll descriptor can be had: " + net::text_of_error(errno),
               .remedy = "see ulimit -n for the number of open files"});
  }
  return watch;
}

}  // namespace

TcpCarrier::TcpCarrier(uint32_t lanes, int rank, int ranks, std::string_view secret, bool threads, Patience patience)
    : rank_(static_cast<uint32_t>(rank)),
      ranks_(static_cast<uint32_t>(ranks)),
      threads_(threads),
      proofs_(secret),
      patience_(patience),
      ports_(lanes),
      ticker_(look_at_datagrams, looks_in_vain, [this] { return see_to_datagrams(); }) {
  here_.addresses = net::allowed_addresses();
  listener_.socket = net::listen_at(here_.port);
  if (ports_.size() > 1) all_ports_ = new_epoll();
  for (Port& port : ports_) {
    port.watch = new_epoll();
    port.incoming = std::make_unique_for_overwrite<unsigned char[]>(incoming_bytes);
    if (!all_ports_) continue;
    epoll_event event = {};
    event.events = EPOLLIN;
    (void)epoll_ctl(all_ports_.descriptor(), EPOLL_CTL_ADD, port.watch.descriptor(), &event);
  }
  watch(ports_[0], listener_, EPOLLIN, EPOLL_CTL_ADD);
}

std::string TcpCarrier::address(uint32_t lane) {
  const Published published{rank_, lane};
  return std::string(reinterpret_cast<const char*>(&published), sizeof published) + here_.bytes();
}

bool TcpCarrier::insert(std::string_view bytes, net::Address& address) {
  Published published;
  if (bytes.size() < sizeof published) return false;
  bytes.copy(reinterpret_cast<char*>(&published), sizeof published);
  net::Place place;
  if (!place.parse(bytes.substr(sizeof published)) || published.rank >= ranks_ || published.lane >= max_lanes) {
    return false;
  }
  Link& peer = link(published.rank, published.lane);
  const std::lock_guard guard(peer.lock);
  peer.place = std::move(place);
  address = reinterpret_cast<net::Address>(&peer);
  return true;
}

TcpCarrier::Link& TcpCarrier::link(uint32_t rank, uint32_t lane) {
  const std::lock_guard guard(lock_);
  std::unique_ptr<Link>& known = links_[{rank, lane}];
  if (known == nullptr) known = std::make_unique<Link>(rank, lane);
  return *known;
}

void TcpCarrier::watch(Port& port, Watched& what, uint32_t events, int operation) {
  if (Watched* here = &what; port.unwatched.compare_exchange_strong(here, nullptr, std::memory_order_relaxed)) {
    operation = EPOLL_CTL_ADD;
  }
  epoll_event event = {};
  event.events = events;
  event.data.ptr = &what;
  (void)epoll_ctl(port.watch.descriptor(), operation, what.socket.descriptor(), &event);
}

void TcpCarrier::unwatch(Port& port, Watched& what) {
  Watched* here = &what;
  port.unwatched.compare_exchange_strong(here, nullptr, std::memory_order_relaxed);
  epoll_event none = {};
  (void)epoll_ctl(port.watch.descriptor(), EPOLL_CTL_DEL, what.socket.descriptor(), &none);
}

// ---- sending

int TcpCarrier::send(uint32_t, net::Buffer* buffer, const void* frame, size_t bytes, net::Address to) {
  Link& peer = *reinterpret_cast<Link*>(to);
  auto* const at = buffer->bytes + (static_cast<const unsigned char*>(frame) - buffer->bytes);
  const size_t size = on_the_wire(bytes);
  const std::lock_guard guard(peer.lock);
  if (go_beside(peer, at, bytes)) return gone;
  const State state = peer.state.load(std::memory_order_relaxed);
  if (state == State::lost) return peer.error;
  if (peer.queued == queued_most) return EAGAIN;
  std::memset(at + bytes, 0, size - bytes);
  size_t sent = 0;
  if (const int error = send_now(peer, at, size, sent); error != 0) return error;
  if (sent == size) return gone;
  peer.waiting.push_back({.at = at + sent, .left = size - sent, .buffer = buffer});
  ++peer.queued;
  if (state == State::idle) start(peer);
  return 0;
}

// What the system does not take of a small message is copied, so that it is as good as gone; of a larger one it stays
// where it is.
int TcpCarrier::push(net::Buffer* buffer, const void* data, size_t bytes, net::Address to) {
  Link& peer = *reinterpret_cast<Link*>(to);
  const size_t fill = on_the_wire(bytes) - bytes;
  const size_t size = item_least + bytes + fill;
  const std::lock_guard guard(peer.lock);
  const State state = peer.state.load(std::memory_order_relaxed);
  if (state == State::lost) return peer.error;
  if (peer.queued == queued_most) return EAGAIN;
  // Pushed data are taken in their turn alone: what was sent before goes in front of them once more.
  std::vector<unsigned char> copies;
  if (peer.beside != nullptr && peer.beside->known.keeps()) copies = peer.beside->known.take_back();
  const size_t in_front = copies.size();
  const iovec parts[] = {{copies.data(), in_front},
                         {buffer->bytes, item_least},
                         {const_cast<void*>(data), bytes},
                         {const_cast<unsigned char*>(zeros), fill}};
  size_t sent = 0;
  if (const int error = send_parts_now(peer, parts, in_front + size, sent); error != 0) return error;
  if (sent == in_front + size) return gone;
  if (sent < in_front) peer.waiting.push_back(rest_of(std::move(copies), sent));
  sent -= std::min(sent, in_front);
  const bool small = bytes <= net::staging_most;
  if (small) {
    std::memcpy(buffer->bytes + item_least, data, bytes);
    std::memset(buffer->bytes + item_least + bytes, 0, fill);
    peer.waiting.push_back({.at = buffer->bytes + sent, .left = size - sent});
    buffer->left = {};
  } else {
    for (const iovec& part : std::span(parts).subspan(1)) {
      const size_t gone_of_it = std::min(sent, part.iov_len);
      sent -= gone_of_it;
      if (gone_of_it == part.iov_len) continue;
      peer.waiting.push_back(
          {.at = static_cast<unsigned char*>(part.iov_base) + gone_of_it, .left = part.iov_len - gone_of_it});
    }
  }
  peer.waiting.back().buffer = buffer;
  ++peer.queued;
  if (state == State::idle) start(peer);
  return small ? copied : 0;
}

// How much of it the system takes at once, when nothing waits before it.
int TcpCarrier::send_now(Link& link, const void* at, size_t bytes, size_t& sent) {
  if (link.state.load(std::memory_order_relaxed) != State::open || !link.waiting.empty()) return 0;
  return taken_of(link, ::send(link.socket.descriptor(), at, bytes, MSG_NOSIGNAL | MSG_DONTWAIT), bytes, sent);
}

int TcpCarrier::send_parts_now(Link& link, std::span<const iovec> parts, size_t bytes, size_t& sent) {
  if (link.state.load(std::memory_order_relaxed) != State::open || !link.waiting.empty()) return 0;
  msghdr message = {};
  message.msg_iov = const_cast<iovec*>(parts.data());
  message.msg_iovlen = parts.size();
  return taken_of(link, ::sendmsg(link.socket.descriptor(), &message, MSG_NOSIGNAL | MSG_DONTWAIT), bytes, sent);
}

// What came of such a call, which has left errno.
int TcpCarrier::taken_of(Link& link, ssize_t taken, size_t bytes, size_t& sent) {
  if (taken < 0 && !later()) {
    Ended none;  // nothing waits
    lose(link, errno, none);
    return link.error;
  }
  sent = static_cast<size_t>(std::max<ssize_t>(taken, 0));
  if (sent != bytes) watch(port_of(link), link, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
  return 0;
}

void TcpCarrier::enqueue(Link& link, const void* head, size_t sent) {
  Waiting& waiting = link.waiting.emplace_back();
  std::memcpy(waiting.head, head, item_least);
  waiting.at = waiting.head + sent;
  waiting.left = item_least - sent;
}

// Sends what waits, as far as the system takes it.
void TcpCarrier::flush(Link& link, Ended& ended) {
  while (!link.waiting.empty()) {
    iovec parts[parts_most];
    msghdr message = {};
    message.msg_iov = parts;
    for (const Waiting& waiting : link.waiting) {
      parts[message.msg_iovlen++] = {const_cast<unsigned char*>(waiting.at), waiting.left};
      if (message.msg_iovlen == parts_most) break;
    }
    const ssize_t taken = ::sendmsg(link.socket.descriptor(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (taken < 0) {
      if (!later()) return lose(link, errno, ended);
      return watch(port_of(link), link, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
    }
    for (auto left = static_cast<size_t>(taken); left != 0;) {
      Waiting& first = link.waiting.front();
      const size_t part = std::min(left, first.left);
      first.at += part;
      first.left -= part;
      left -= part;
      if (first.left != 0) break;
      if (first.buffer != nullptr) {
        --link.queued;
        first.buffer->next = ended.first;
        ended.first = first.buffer;
      }
      link.waiting.pop_front();
    }
  }
  watch(port_of(link), link, EPOLLIN, EPOLL_CTL_MOD);
}

// ---- connecting

void TcpCarrier::settle(Link& link, State state) {
  const auto unsettled = [](State s) { return s != State::idle && s != State::open && s != State::lost; };
  const State before = link.state.load(std::memory_order_relaxed);
  if (unsettled(state) && !unsettled(before)) port_of(link).unsettled.fetch_add(1, std::memory_order_relaxed);
  if (!unsettled(state) && unsettled(before)) port_of(link).unsettled.fetch_sub(1, std::memory_order_relaxed);
  link.state.store(state, std::memory_order_release);
}

void TcpCarrier::start(Link& link) {
  link.give_up_ns = base::now_ns() + patience_.peer;
  settle(link, State::connecting);
  Ended none;  // the peer's time is not up
  connect_next(link, none);
}

// Begins with the next of the peer's addresses; after the last one pauses, or gives up. Who says nothing may be the
// peer, which computes: it finds our hello when it is in MPI again.
void TcpCarrier::connect_next(Link& link, Ended& ended) {
  const uint64_t now = base::now_ns();
  link.socket = net::connect_in_turn(link.place, link.tried, link.error);
  if (link.socket) {
    link.until_ns = now + patience_.address;
    settle(link, State::connecting);
    watch(port_of(link), link, EPOLLOUT, EPOLL_CTL_ADD);
    return;
  }
  if (std::exchange(link.silent, false)) {
    ++link.silences;
    link.give_up_ns = now + patience_.peer;
  }
  if (now > link.give_up_ns) return lose(link, link.error != 0 ? link.error : ETIMEDOUT, ended);
  link.until_ns = now + pause_ns;
  settle(link, State::pausing);
}

// A link that is not open has something to see to.
void TcpCarrier::advance(Link& link, Ended& ended) {
  const State state = link.state.load(std::memory_order_relaxed);
  if (state == State::greeting || state == State::welcomed) return hear_word(link, ended);
  if (state != State::connecting) return;
  link.error = net::error_of(link.socket);
  const Greeting hello = greeting(Word::hello, rank_, link.rank, link.lane, proofs_, ++link.attempts);
  if (link.error != 0 ||
      ::send(link.socket.descriptor(), &hello, sizeof hello, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof hello)) {
    return connect_next(link, ended);
  }
  link.answered = 0;
  constexpr uint32_t most_doublings = 10;
  link.until_ns = base::now_ns() + (patience_.address << std::min(link.silences, most_doublings));
  settle(link, State::greeting);
  watch(port_of(link), link, EPOLLIN, EPOLL_CTL_MOD);
}

// The peer's next word on a connection that is not open yet.
void TcpCarrier::hear_word(Link& link, Ended& ended) {
  const ssize_t bytes = ::recv(link.socket.descriptor(), reinterpret_cast<char*>(&link.answer) + link.answered,
                               sizeof link.answer - link.answered, MSG_DONTWAIT);
  if (bytes < 0 && later()) return;
  if (bytes <= 0) return no_word(link, bytes < 0 ? errno : ECONNRESET, ended);
  link.answered += static_cast<size_t>(bytes);
  if (link.answered < sizeof link.answer) return;
  const Greeting* said = check_greeting(link.answer, proofs_, rank_, ranks_);
  const auto word = said != nullptr && said->origin == link.rank ? static_cast<Word>(said->word) : Word::hello;
  if (link.state.load(std::memory_order_relaxed) == State::welcomed) {
    return word == Word::confirmed ? opened(link, ended) : no_word(link, EPROTO, ended);
  }
  if (word == Word::crossed) {
    link.socket.close();
    link.tried = 0;
    link.until_ns = base::now_ns() + second_ns;
    return settle(link, State::expected);
  }
  const Greeting answer = greeting(Word::confirmed, rank_, link.rank, link.lane, proofs_);
  if (word != Word::welcome ||
      ::send(link.socket.descriptor(), &answer, sizeof answer, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof answer)) {
    return no_word(link, EPROTO, ended);
  }
  opened(link, ended);
}

// It will not come: that was not the peer, or it ends, or has given this connection up.
void TcpCarrier::no_word(Link& link, int error, Ended& ended) {
  link.error = error;
  if (link.state.load(std::memory_order_relaxed) == State::greeting) return connect_next(link, ended);
  link.socket.close();
  link.tried = 0;
  settle(link, State::idle);
  if (!link.waiting.empty()) start(link);
}

void TcpCarrier::opened(Link& link, Ended& ended) {
  net::suit_to_distance(link.socket);
  settle(link, State::open);
  flush(link, ended);
}

void TcpCarrier::lose(Link& link, int error, Ended& ended) {
  if (link.state.load(std::memory_order_relaxed) == State::lost) return;
  link.error = error;
  settle(link, State::lost);
  unwatch(port_of(link), link);
  if (link.beside != nullptr && link.beside->socket) unwatch(port_of(link), *link.beside);
  ended.error = error;
  for (const Waiting& waiting : link.waiting) {
    if (waiting.buffer == nullptr) continue;
    waiting.buffer->next = ended.first;
    ended.first = waiting.buffer;
  }
  link.waiting.clear();
  link.queued = 0;
  // Whoever polls tells of what does not come now.
  if (link.fills.load(std::memory_order_relaxed)) port_of(link).unsettled.fetch_add(1, std::memory_order_relaxed);
}

// Begins anew what has taken too long.
void TcpCarrier::see_to_time(uint32_t lane, Port& port, net::Events& events) {
  const uint64_t now = base::now_ns();
  if (now < port.look_ns) return;
  port.look_ns = now + second_ns / 50;
  std::vector<Link*> late, broken;
  {
    const std::lock_guard guard(lock_);
    for (auto& [who, link] : links_) {
      if (&port_of(*link) == &port && link->state.load(std::memory_order_relaxed) != State::open) {
        late.push_back(link.get());
      }
    }
  }
  for (Link* link : late) {
    Ended ended;
    {
      const std::lock_guard guard(link->lock);
      const State state = link->state.load(std::memory_order_relaxed);
      if (state == State::lost && link->fills.exchange(false, std::memory_order_relaxed)) broken.push_back(link);
      if (state == State::idle || state == State::open || state == State::lost || now < link->until_ns) continue;
      if (state != State::pausing) link->error = ETIMEDOUT;
      if (state == State::greeting) link->silent = true;
      connect_next(*link, ended);
    }
    tell_ended(lane, ended, events);
  }
  for (Link* link : broken) give_up_filling(*link, events);
  if (lane != 0) return;
  for (auto guest = guests_.begin(); guest != guests_.end();) {
    const auto next = std::next(guest);
    if (now > guest->until_ns) turn_away(*guest, true);
    guest = next;
  }
}

// ---- what has come in

int TcpCarrier::poll(uint32_t lane, net::Events& events) {
  Port& port = ports_[lane];
  if (port.at != port.end) return tell(lane, port, events);
  if (port.recent != nullptr) {
    const int told = port.recent->what == Watched::What::datagrams
                         ? read_datagram(lane, port, static_cast<Beside&>(*port.recent), events)
                         : read(lane, port, static_cast<Link&>(*port.recent), events);
    if (told != 0) return told;
    if (++port.looks % look_every != 0) return 0;
  }
  if (port.unsettled.load(std::memory_order_relaxed) != 0) [[unlikely]]
    see_to_time(lane, port, events);
  return look(lane, port, events);
}

// A socket that epoll watches costs its sender 0.3 us for each message, so one that is looked at anyway, by who has one
// thread and hears from nobody else, is not watched until that is over: 8 B took 7.7 us without, 8.1 with it
// (bench/tcp.c between two hosts, changed for this). One that has something to send is: it tells when there is room.
// Nor does the look move on for one receipt from elsewhere, such as a word of flow control.
void TcpCarrier::note_heard(Port& port, Watched& what) {
  if (port.recent == &what) {
    port.elsewhere = 0;
    if (threads_ || port.unwatched.load(std::memory_order_relaxed) != nullptr || ++port.heard < unwatch_after) return;
    const std::lock_guard guard(link_of(what).lock);
    if (what.what == Watched::What::link && !link_of(what).waiting.empty()) return;
    unwatch(port, what);
    port.unwatched.store(&what, std::memory_order_relaxed);
  } else if (port.recent == nullptr || ++port.elsewhere == 2) {
    watch_all(port);
    port.recent = &what;
    port.elsewhere = 0;
  }
}

void TcpCarrier::watch_all(Port& port) {
  port.heard = 0;
  Watched* const what = port.unwatched.load(std::memory_order_relaxed);
  if (what == nullptr) return;
  const std::lock_guard guard(link_of(*what).lock);
  if (port.unwatched.load(std::memory_order_relaxed) == what) watch(port, *what, EPOLLIN, EPOLL_CTL_ADD);
}

// A process whose connections are not all watched has one thread.
bool TcpCarrier::may_sleep() {
  if (!threads_) watch_all(ports_[0]);
  return std::none_of(ports_.begin(), ports_.end(),
                      [](const Port& port) { return port.untold.load(std::memory_order_relaxed); });
}

// Sees to all that has something for us.
int TcpCarrier::look(uint32_t lane, Port& port, net::Events& events) {
  epoll_event ready[16];
  const int count = epoll_wait(port.watch.descriptor(), ready, 16, 0);
  int told = 0;
  for (int i = 0; i < count; ++i) {
    auto* what = static_cast<Watched*>(ready[i].data.ptr);
    if (what->what == Watched::What::listener) {
      accept_guests();
    } else if (what->what == Watched::What::guest) {
      hear(static_cast<Guest&>(*what));
    } else if (what->what == Watched::What::datagrams) {
      told += read_datagram(lane, port, static_cast<Beside&>(*what), events);
    } else {
      auto& peer = static_cast<Link&>(*what);
      if (peer.state.load(std::memory_order_acquire) != State::open || (ready[i].events & EPOLLOUT) != 0) {
        Ended ended;
        {
          const std::lock_guard guard(peer.lock);
          peer.state.load(std::memory_order_relaxed) == State::open ? flush(peer, ended) : advance(peer, ended);
        }
        tell_ended(lane, ended, events);
      } else if (port.at == port.end) {
        told += read(lane, port, peer, events);
      }
    }
  }
  return told;
}

int TcpCarrier::read(uint32_t lane, Port& port, Link& link, net::Events& events) {
  if (link.state.load(std::memory_order_acquire) != State::open) return 0;
  const size_t kept = link.partial.size();
  // Items lie at multiples of 16, also behind what is dropped.
  const size_t begin = kept != 0 ? 0 : (16 - link.filling.drop % 16) % 16;
  // Behind data that were asked for come others as a rule: then their head is read, which tells where they go.
  const size_t behind =
      link.filling.left != 0 && !link.asked.empty() ? link.filling.drop + item_least : incoming_bytes - begin - kept;
  iovec parts[2] = {{link.filling.to, link.filling.left}, {&port.incoming[begin + kept], behind}};
  const int from = link.socket.descriptor();
  const ssize_t bytes = link.filling.left != 0 ? ::readv(from, parts, 2)
                                               : ::recv(from, parts[1].iov_base, parts[1].iov_len, MSG_DONTWAIT);
  if (bytes < 0 && later()) return 0;
  if (bytes <= 0) {
    lose(lane, link, bytes < 0 ? errno : ECONNRESET, events);
    return 0;
  }
  const size_t direct = std::min(static_cast<size_t>(bytes), link.filling.left);
  link.filling.to += direct;
  link.filling.left -= direct;
  if (kept != 0) std::memcpy(port.incoming.get(), link.partial.data(), kept);
  note_heard(port, link);
  port.source = &link;
  port.at = begin;
  port.end = begin + kept + static_cast<size_t>(bytes) - direct;
  return std::max(1, tell(lane, port, events));
}

// Tells of items that lie in the port's memory. Of the last, the rest may have to come.
int TcpCarrier::tell(uint32_t lane, Port& port, net::Events& events) {
  port.untold.store(false, std::memory_order_relaxed);
  Link& source = *port.source;
  for (int told = 0;; ++told) {
    if (source.filling.what != Filling::What::nothing) {
      port.at += fill(source, &port.incoming[port.at], port.end - port.at, events);
      if (source.filling.what != Filling::What::nothing) {  // all of it is filled in
        source.partial.clear();
        return told;
      }
    }
    const unsigned char* const item = &port.incoming[port.at];
    const size_t left = port.end - port.at;
    const uint32_t magic = left < item_least ? 0 : *reinterpret_cast<const uint32_t*>(item);
    const bool alone =
        magic == net::pushed_magic || magic == ask_magic || magic == answer_magic || magic == invitation_magic;
    const size_t in_front = magic == datagram_magic ? sizeof(Datagram) : 0;
    const size_t bytes = left < item_least + in_front ? net::frame_most
                         : alone                      ? item_least
                                                      : in_front + net::frame_bytes(item + in_front);
    bool understood = bytes <= net::frame_most;
    if (understood && left < on_the_wire(bytes)) {
      if (left != 0) {
        source.partial.assign(item, item + left);
      } else if (source.partial.capacity() != 0) {
        std::vector<unsigned char>().swap(source.partial);
      }
      port.at = port.end;
      return told;
    }
    if (understood && told >= told_most) {
      port.untold.store(true, std::memory_order_relaxed);
      return told;
    }
    port.at += on_the_wire(bytes);
    if (magic == net::pushed_magic) {
      understood = begin_landing(lane, source, *reinterpret_cast<const net::Header*>(item), events);
    } else if (magic == ask_magic) {
      answer(lane, source, *reinterpret_cast<const Ask*>(item), events);
    } else if (magic == answer_magic) {
      understood = begin_filling(source, *reinterpret_cast<const Answer*>(item), events);
    } else if (magic == invitation_magic) {
      accept_invitation(source, *reinterpret_cast<const Invitation*>(item));
    } else if (understood && in_front != 0) {
      (void)take_datagram(lane, source, item, bytes, true, events);
    } else if (understood && !events.came(lane, item, bytes)) {
      told += read_beside(lane, port, source, events);  // where those before it may be
    }
    if (understood) continue;
    port.at = port.end;  // nothing behind it can be understood
    lose(lane, source, EPROTO, events);
    return told;
  }
}

// The connection is of no use any more.
void TcpCarrier::lose(uint32_t lane, Link& link, int error, net::Events& events) {
  Ended ended;
  {
    const std::lock_guard guard(link.lock);
    lose(link, error, ended);
  }
  tell_ended(lane, ended, events);
}

void TcpCarrier::tell_ended(uint32_t lane, const Ended& ended, net::Events& events) {
  for (net::Buffer* buffer = ended.first; buffer != nullptr;) {
    net::Buffer* next = buffer->next;
    events.sent(lane, buffer, ended.error);
    buffer = next;
  }
}

}  // namespace weft::transport::tcp
