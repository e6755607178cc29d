// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/outgoing.hpp"

#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "base/tsan.hpp"
#include "transport/net/network.hpp"

namespace weft::transport::tcp {
namespace {

constexpr uint32_t queued_most = 16;  // buffers of a link, so that others are left for other peers
constexpr size_t parts_most = 16;     // sent in one call
static_assert(on_the_wire(net::frame_most) == net::frame_most);

UnsentBytes rest_of(std::vector<unsigned char>&& copies, size_t sent) {
  const unsigned char* const at = copies.data() + sent;
  const size_t left = copies.size() - sent;
  return {.at = at, .left = left, .repeated = std::move(copies)};
}

// The way from the peer, for people.
std::string shown(const Link& link) {
  const auto address = [](uint64_t end) { return net::text_of({htonl(static_cast<uint32_t>(end >> 16))}); };
  return address(net::far_end(link.socket)) + " to " + address(net::near_end(link.socket));
}

// The peer may have the data, and have another thread of ours write where they lie, before the call returns.
ssize_t send_parts(const Link& link, const msghdr& message) {
  for (const iovec& part : std::span(message.msg_iov, message.msg_iovlen)) base::note_read(part.iov_base, part.iov_len);
  base::give_to_process(&base::sent_data);
  const base::ReadsNoted noted;
  return ::sendmsg(link.socket.descriptor(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

int Outgoing::send(Link& link, net::Buffer* buffer, unsigned char* frame, size_t bytes) {
  if (link.state.load(std::memory_order_relaxed) == LinkState::lost) return link.error;
  if (link.queued == queued_most) return EAGAIN;
  const size_t size = on_the_wire(bytes);
  std::memset(frame + bytes, 0, size - bytes);
  size_t sent = 0;
  if (const int error = send_now(link, frame, size, sent); error != 0) return error;
  if (sent == size) return net::Carrier::gone;
  link.waiting.push_back({.at = frame + sent, .left = size - sent, .buffer = buffer});
  ++link.queued;
  return 0;
}

// The rest of a small message that the system does not take is copied, so that it is as good as gone; that of a larger
// one stays where it is.
int Outgoing::push(Link& link, net::Buffer* buffer, const void* data, size_t bytes) {
  const size_t fill = on_the_wire(bytes) - bytes;
  const size_t size = item_least + bytes + fill;
  if (link.state.load(std::memory_order_relaxed) == LinkState::lost) return link.error;
  if (link.queued == queued_most) return EAGAIN;
  // Pushed data are taken in their turn alone: earlier frames go in front of them once more.
  std::vector<unsigned char> copies;
  if (link.beside != nullptr && link.beside->known.keeps()) copies = link.beside->known.take_back();
  const size_t in_front = copies.size();
  const iovec parts[] = {{copies.data(), in_front},
                         {buffer->bytes, item_least},
                         {const_cast<void*>(data), bytes},
                         {const_cast<unsigned char*>(zeros), fill}};
  size_t sent = 0;
  if (const int error = send_parts_now(link, parts, in_front + size, sent); error != 0) return error;
  if (sent == in_front + size) return net::Carrier::gone;
  if (sent < in_front) link.waiting.push_back(rest_of(std::move(copies), sent));
  sent -= std::min(sent, in_front);
  const bool small = bytes <= net::staging_most;
  if (small) {
    std::memcpy(buffer->bytes + item_least, data, bytes);
    std::memset(buffer->bytes + item_least + bytes, 0, fill);
    link.waiting.push_back({.at = buffer->bytes + sent, .left = size - sent});
    buffer->left = {};
  } else {
    for (const iovec& part : std::span(parts).subspan(1)) {
      const size_t gone_of_it = std::min(sent, part.iov_len);
      sent -= gone_of_it;
      if (gone_of_it == part.iov_len) continue;
      link.waiting.push_back(
          {.at = static_cast<unsigned char*>(part.iov_base) + gone_of_it, .left = part.iov_len - gone_of_it});
    }
  }
  link.waiting.back().buffer = buffer;
  ++link.queued;
  return small ? net::Carrier::copied : 0;
}

int Outgoing::send_item(Link& link, const void* item) {
  size_t sent = 0;
  if (const int error = send_now(link, item, item_least, sent); error != 0) return error;
  if (sent != item_least) enqueue(link, item, sent);
  return 0;
}

void Outgoing::answer(Link& link, const ReadAnswer& head, uint64_t address, Ended& ended) {
  enqueue(link, &head, 0);
  if (head.bytes != 0) link.waiting.push_back({.at = reinterpret_cast<unsigned char*>(address), .left = head.bytes});
  if (head.bytes % 16 != 0) link.waiting.push_back({.at = zeros, .left = on_the_wire(head.bytes) - head.bytes});
  flush(link, ended);
}

void Outgoing::repeat(Link& link, std::vector<unsigned char>&& copies) {
  size_t sent = 0;
  if (send_now(link, copies.data(), copies.size(), sent) == 0 && sent != copies.size()) {
    link.waiting.push_back(rest_of(std::move(copies), sent));
  }
}

// How much of it the system takes at once, when nothing waits before it.
int Outgoing::send_now(Link& link, const void* at, size_t bytes, size_t& sent) {
  if (link.state.load(std::memory_order_relaxed) != LinkState::open || !link.waiting.empty()) return 0;
  return taken_of(link, ::send(link.socket.descriptor(), at, bytes, MSG_NOSIGNAL | MSG_DONTWAIT), bytes, sent);
}

int Outgoing::send_parts_now(Link& link, std::span<const iovec> parts, size_t bytes, size_t& sent) {
  if (link.state.load(std::memory_order_relaxed) != LinkState::open || !link.waiting.empty()) return 0;
  msghdr message = {};
  message.msg_iov = const_cast<iovec*>(parts.data());
  message.msg_iovlen = parts.size();
  return taken_of(link, send_parts(link, message), bytes, sent);
}

// The outcome of such a call, which has left errno.
int Outgoing::taken_of(Link& link, ssize_t taken, size_t bytes, size_t& sent) {
  if (taken < 0 && !later()) {
    const int error = errno;
    link.socket.check();
    Ended none;  // nothing waits
    lose(link, error, none);
    return link.error;
  }
  sent = static_cast<size_t>(std::max<ssize_t>(taken, 0));
  if (sent != bytes) links_.watch(links_.port_of(link), link, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
  return 0;
}

void Outgoing::enqueue(Link& link, const void* head, size_t sent) {
  UnsentBytes& waiting = link.waiting.emplace_back();
  std::memcpy(waiting.head, head, item_least);
  waiting.at = waiting.head + sent;
  waiting.left = item_least - sent;
}

// Requests are the only items of the carrier's own that are made before the link is open.
void Outgoing::prove_waiting(Link& link) {
  for (UnsentBytes& waiting : link.waiting) {
    if (waiting.at != waiting.head) continue;
    Ask ask;
    std::memcpy(&ask, waiting.head, sizeof ask);
    ask.proof = proof_of(ask, link.keys.ours);
    std::memcpy(waiting.head, &ask, sizeof ask);
  }
}

void Outgoing::flush(Link& link, Ended& ended) {
  Port& port = links_.port_of(link);
  while (!link.waiting.empty()) {
    iovec parts[parts_most];
    msghdr message = {};
    message.msg_iov = parts;
    for (const UnsentBytes& waiting : link.waiting) {
      parts[message.msg_iovlen++] = {const_cast<unsigned char*>(waiting.at), waiting.left};
      if (message.msg_iovlen == parts_most) break;
    }
    const ssize_t taken = send_parts(link, message);
    if (taken < 0) {
      if (!later()) return lose(link, errno, ended);
      return links_.watch(port, link, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
    }
    for (auto left = static_cast<size_t>(taken); left != 0;) {
      UnsentBytes& first = link.waiting.front();
      const size_t part = std::min(left, first.left);
      first.at += part;
      first.left -= part;
      left -= part;
      if (first.left != 0) break;
      if (first.buffer != nullptr) {
        --link.queued;
        ended.add(first.buffer);
      }
      link.waiting.pop_front();
    }
  }
  links_.watch(port, link, EPOLLIN, EPOLL_CTL_MOD);
}

void Outgoing::lose(Link& link, int error, Ended& ended) {
  if (link.state.load(std::memory_order_relaxed) == LinkState::lost) return;
  Port& port = links_.port_of(link);
  link.error = error;
  links_.enter(link, LinkState::lost);
  links_.unwatch(port, link);
  if (link.beside != nullptr && link.beside->socket) links_.unwatch(port, *link.beside);
  ended.error = error;
  for (const UnsentBytes& waiting : link.waiting) {
    if (waiting.buffer != nullptr) ended.add(waiting.buffer);
  }
  link.waiting.clear();
  link.queued = 0;
  // The poller reports the reads and pushed data that will not come now.
  if (link.fills.load(std::memory_order_relaxed)) port.pending.fetch_add(1, std::memory_order_relaxed);
}

void Outgoing::end_changed(uint32_t lane, Link& link, net::Events& events) {
  events.changed(link.rank, shown(link));
  Ended ended;
  {
    const std::lock_guard guard(link.lock);
    lose(link, EPROTO, ended);
  }
  ended.report(lane, events);
}

}  // namespace weft::transport::tcp
