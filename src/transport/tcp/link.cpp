// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/link.hpp"

#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <mutex>

#include "base/message.hpp"
#include "transport/api/failure.hpp"

namespace weft::transport::tcp {
namespace {

constexpr uint32_t unwatch_after = 64;  // receipts from one link alone

net::Socket new_epoll() {
  net::Socket watch(epoll_create1(EPOLL_CLOEXEC));
  if (!watch) {
    fail_for_good({.cause = "no epoll descriptor can be had: " + net::text_of_error(errno),
                   .remedy = "see ulimit -n for the number of open files"});
  }
  return watch;
}

}  // namespace

bool later() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

void Ended::report(uint32_t lane, net::Events& events) const {
  for (net::Buffer* buffer = first; buffer != nullptr;) {
    events.sent(lane, std::exchange(buffer, buffer->next), error);
  }
}

Links::Links(uint32_t lanes, bool threads) : threads_(threads), ports_(lanes) {
  if (ports_.size() > 1) all_ports_ = new_epoll();
  for (Port& port : ports_) {
    port.watch = new_epoll();
    if (!all_ports_) continue;
    epoll_event event = {};
    event.events = EPOLLIN;
    (void)epoll_ctl(all_ports_.descriptor(), EPOLL_CTL_ADD, port.watch.descriptor(), &event);
  }
}

Link& Links::link(uint32_t rank, uint32_t lane) {
  const std::lock_guard guard(lock_);
  std::unique_ptr<Link>& known = links_[{rank, lane}];
  if (known == nullptr) known = std::make_unique<Link>(rank, lane);
  return *known;
}

std::vector<Link*> Links::not_open(const Port& port) {
  std::vector<Link*> found;
  const std::lock_guard guard(lock_);
  for (auto& [who, link] : links_) {
    if (&port_of(*link) == &port && link->state.load(std::memory_order_relaxed) != LinkState::open) {
      found.push_back(link.get());
    }
  }
  return found;
}

bool Links::all_taken() {
  const std::lock_guard guard(lock_);
  return std::all_of(links_.begin(), links_.end(), [](const auto& each) {
    int left = 0;
    return each.second->state.load(std::memory_order_acquire) != LinkState::open ||
           ioctl(each.second->socket.descriptor(), SIOCOUTQ, &left) != 0 || left == 0 ||
           net::error_of(each.second->socket) != 0;
  });
}

void Links::watch(Port& port, Watched& what, uint32_t events, int operation) {
  if (Watched* here = &what; port.unwatched.compare_exchange_strong(here, nullptr, std::memory_order_relaxed)) {
    operation = EPOLL_CTL_ADD;
  }
  epoll_event event = {};
  event.events = events;
  event.data.ptr = &what;
  (void)epoll_ctl(port.watch.descriptor(), operation, what.socket.descriptor(), &event);
}

void Links::unwatch(Port& port, Watched& what) {
  Watched* here = &what;
  port.unwatched.compare_exchange_strong(here, nullptr, std::memory_order_relaxed);
  epoll_event none = {};
  (void)epoll_ctl(port.watch.descriptor(), EPOLL_CTL_DEL, what.socket.descriptor(), &none);
}

void Links::enter(Link& link, LinkState state) {
  const LinkState before = link.state.load(std::memory_order_relaxed);
  if (is_pending(state) && !is_pending(before)) port_of(link).pending.fetch_add(1, std::memory_order_relaxed);
  if (!is_pending(state) && is_pending(before)) port_of(link).pending.fetch_sub(1, std::memory_order_relaxed);
  link.state.store(state, std::memory_order_release);
}

// A socket that epoll watches costs its sender 0.3 us for each message. A process with one thread that hears from one
// socket alone looks at that one anyway, and does not watch it until that is over: 8 B took 7.7 us without, 8.1 with it
// (bench/tcp.c between two hosts, changed for this). A socket that has something to send is watched: epoll tells when
// it can take more. One receipt from elsewhere, such as a word of flow control, does not move the look there.
void Links::note_heard(Port& port, Watched& what) {
  if (port.recent == &what) {
    port.elsewhere = 0;
    if (threads_ || port.unwatched.load(std::memory_order_relaxed) != nullptr || ++port.heard < unwatch_after) return;
    const std::lock_guard guard(link_of(what).lock);
    if (what.what == Watched::SocketKind::link && !link_of(what).waiting.empty()) return;
    unwatch(port, what);
    port.unwatched.store(&what, std::memory_order_relaxed);
  } else if (port.recent == nullptr || ++port.elsewhere == 2) {
    watch_all(port);
    port.recent = &what;
    port.elsewhere = 0;
  }
}

// A process whose connections are not all watched has one thread.
void Links::watch_all() {
  if (!threads_) watch_all(ports_[0]);
}

void Links::watch_all(Port& port) {
  port.heard = 0;
  Watched* const what = port.unwatched.load(std::memory_order_relaxed);
  if (what == nullptr) return;
  const std::lock_guard guard(link_of(*what).lock);
  if (port.unwatched.load(std::memory_order_relaxed) == what) watch(port, *what, EPOLLIN, EPOLL_CTL_ADD);
}

}  // namespace weft::transport::tcp
