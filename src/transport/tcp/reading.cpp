// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// What of the carrier is about data that go straight to where they shall be: pushed, or read from a peer's memory.
#include "transport/tcp/reading.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "transport/net/reading.hpp"
#include "transport/tcp/carrier.hpp"

namespace weft::transport::tcp {
namespace {

constexpr size_t piece_bytes = 512 << 10;  // what comes behind it to the same peer waits for so much

}  // namespace

bool TcpCarrier::reads() const {
  return !net::reading_is_off();
}

size_t TcpCarrier::read_most() const {
  return piece_bytes;
}

bool TcpCarrier::expose(const void* memory, size_t bytes, MemoryRef& ref) {
  ref = {reinterpret_cast<uint64_t>(memory), exposed_.add(memory, bytes)};
  return true;
}

int TcpCarrier::read(uint32_t lane, net::Address from, const MemoryRef& memory, size_t at, void* to, size_t bytes,
                     Read& read) {
  Link& first = *reinterpret_cast<Link*>(from);
  Link& peer = first.lane == lane ? first : link(first.rank, lane);
  if (&peer != &first) {
    const std::scoped_lock guard(first.lock, peer.lock);
    peer.place = first.place;
  }
  const std::lock_guard guard(peer.lock);
  const State state = peer.state.load(std::memory_order_relaxed);
  if (state == State::lost) return peer.error;
  const Ask ask = {.magic = ask_magic,
                   .bytes = static_cast<uint32_t>(bytes),
                   .key = memory.key,
                   .address = memory.address + at,
                   .number = ++peer.last_number};
  size_t sent = 0;
  if (const int error = send_now(peer, &ask, sizeof ask, sent); error != 0) return error;
  peer.asked.push_back({ask.number, &read, static_cast<unsigned char*>(to), bytes});
  peer.fills.store(true, std::memory_order_relaxed);
  if (sent == sizeof ask) return 0;
  enqueue(peer, &ask, sent);
  if (state == State::idle) start(peer);
  return 0;
}

// Sends what a peer asks for.
void TcpCarrier::answer(uint32_t lane, Link& link, const Ask& ask, net::Events& events) {
  const bool allowed = exposed_.allows(ask);
  const Answer head = {.magic = answer_magic,
                       .error = allowed ? 0u : static_cast<uint32_t>(EFAULT),
                       .number = ask.number,
                       .bytes = allowed ? ask.bytes : 0};
  Ended ended;
  {
    const std::lock_guard guard(link.lock);
    if (link.state.load(std::memory_order_relaxed) != State::open) return;
    enqueue(link, &head, 0);
    if (head.bytes != 0)
      link.waiting.push_back({.at = reinterpret_cast<unsigned char*>(ask.address), .left = ask.bytes});
    if (head.bytes % 16 != 0) link.waiting.push_back({.at = zeros, .left = on_the_wire(head.bytes) - head.bytes});
    flush(link, ended);
  }
  tell_ended(lane, ended, events);
}

// Data are pushed. false: nothing can be believed any more.
bool TcpCarrier::begin_landing(uint32_t lane, Link& link, const net::Header& header, net::Events& events) {
  const size_t bytes = header.bytes;
  net::Room room;
  if (!events.begins(lane, header, room)) return false;
  const size_t wanted = std::min(room.bytes, bytes);
  link.filling = {Filling::What::pushed, room.read, static_cast<unsigned char*>(room.to), wanted,
                  on_the_wire(bytes) - wanted};
  link.fills.store(true, std::memory_order_relaxed);
  return true;
}

// An answer has come in. false: to nothing that was asked.
bool TcpCarrier::begin_filling(Link& link, const Answer& answer, net::Events& events) {
  const auto asked =
      std::find_if(link.asked.begin(), link.asked.end(), [&](const Asked& a) { return a.number == answer.number; });
  if (asked == link.asked.end()) return false;
  const Asked one = *asked;
  if (answer.bytes != (answer.error == 0 ? one.bytes : 0)) return false;
  link.asked.erase(asked);
  if (answer.error != 0) {
    link.fills.store(!link.asked.empty(), std::memory_order_relaxed);
    events.have_read(*one.read, static_cast<int>(answer.error));
  } else {
    link.filling = {Filling::What::read, one.read, one.to, one.bytes, on_the_wire(one.bytes) - one.bytes};
  }
  return true;
}

// Puts data where they shall go; how many were of use.
size_t TcpCarrier::fill(Link& link, const unsigned char* data, size_t bytes, net::Events& events) {
  Filling& filling = link.filling;
  const size_t part = std::min(bytes, filling.left);
  if (part != 0) std::memcpy(filling.to, data, part);
  filling.to += part;
  filling.left -= part;
  const size_t rest = std::min(bytes - part, filling.drop);
  filling.drop -= rest;
  if (filling.left == 0 && filling.drop == 0) {
    const Filling over = std::exchange(filling, {});
    link.fills.store(!link.asked.empty(), std::memory_order_relaxed);
    if (over.what == Filling::What::read) {
      events.have_read(*over.read, 0);
    } else if (over.read != nullptr) {
      events.have_landed(*over.read);
    }
  }
  return part + rest;
}

void TcpCarrier::give_up_filling(Link& link, net::Events& events) {
  port_of(link).unsettled.fetch_sub(1, std::memory_order_relaxed);
  const Filling under_way = std::exchange(link.filling, {});
  if (under_way.what == Filling::What::pushed) {
    if (under_way.read != nullptr) events.lost_rest(link.rank, link.error);
  } else if (under_way.read != nullptr) {
    events.have_read(*under_way.read, link.error);
  }
  for (const Asked& asked : std::exchange(link.asked, {})) events.have_read(*asked.read, link.error);
}

}  // namespace weft::transport::tcp
