// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/datagram.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "transport/tcp/reading.hpp"

namespace weft::transport::tcp {
namespace {

constexpr uint32_t most_doublings = 10;  // of a pause

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
  const Datagram in_front = head(next_++, frame_size);
  std::memcpy(&copies_[at], &in_front, sizeof in_front);
  std::memcpy(&copies_[at + sizeof in_front], frame, frame_size);
  owes_ = false;
  return {&copies_[at], sizeof in_front + frame_size};
}

std::vector<unsigned char> Datagrams::take_back() {
  acknowledged_ = next_;
  copies_.erase(copies_.begin(), copies_.begin() + static_cast<std::ptrdiff_t>(std::exchange(first_, 0)));
  return std::exchange(copies_, {});
}

namespace {

uint64_t proof_of(const Datagram& head, const net::Key& key) {
  return key.proof({net::pair_of(head.magic, head.bytes), head.number, head.taken});
}

}  // namespace

Datagram Datagrams::head(uint64_t number, size_t bytes) const {
  Datagram said{datagram_magic, static_cast<uint32_t>(bytes), number, expected_, 0};
  said.proof = proof_of(said, keys_.ours);
  return said;
}

bool Datagrams::is_theirs(const Datagram& head) const {
  return head.magic == datagram_magic && head.bytes <= most && head.proof == proof_of(head, keys_.theirs);
}

Datagrams::Taken Datagrams::take(const Datagram& head, size_t size, bool on_connection) {
  if (size != sizeof head + head.bytes || !is_theirs(head)) return Taken::nothing;
  hears_ |= !on_connection;
  if (head.taken != acknowledged_ && head.taken - acknowledged_ <= next_ - acknowledged_) {
    for (; acknowledged_ != head.taken; ++acknowledged_) {
      first_ += on_the_wire(sizeof(Datagram) + net::frame_bytes(&copies_[first_ + sizeof(Datagram)]));
    }
    failures_ = 0;
  }
  if (head.bytes == 0 || head.number != expected_) return Taken::known;
  ++expected_;
  if (!on_connection) owes_ = true;
  return Taken::frame;
}

Datagram Datagrams::acknowledgement() {
  owes_ = false;
  return head(next_, 0);
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

}  // namespace weft::transport::tcp
