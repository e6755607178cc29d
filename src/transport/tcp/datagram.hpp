// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Datagrams beside a connection, for frames whose senders look for an answer or give one: the system takes a fifth less
// time for each than over TCP. One at most is on its way that the other side has not acknowledged. Of that one a copy
// is kept, and goes over the connection when it takes too long, so that a lost datagram costs time and nothing else.
// Fixed-width little-endian fields.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "transport/net/frame.hpp"

namespace weft::transport::tcp {

// In front of a frame that goes as a datagram, and of its copy on the connection. With no frame behind it, it
// acknowledges.
struct Datagram {
  uint32_t magic;
  uint32_t number;  // of this frame, among those that its sender sends so
  uint32_t taken;   // of the other side's frames that have come in
  uint32_t unused;
  uint64_t proof;  // as in net::Header
};
static_assert(sizeof(Datagram) == 24);
inline constexpr uint32_t datagram_magic = 0x01445457;  // "WTD" in memory, and the version

// Over the connection: datagrams are received at this port.
struct Invitation {
  uint32_t magic;
  uint32_t port;  // 0: nowhere
  uint64_t unused[5];
};
inline constexpr uint32_t invitation_magic = 0x01495457;  // "WTI"

// What one side of a connection knows of its datagrams.
class Datagrams {
 public:
  static constexpr size_t most = 1024;  // bytes of a frame: a packet of any network holds it
  static constexpr uint64_t late_ns = 2'000'000;
  static constexpr uint64_t owed_ns = 500'000;

  // With what proves each side to the other, and how long the first pause is.
  Datagrams(uint64_t ours, uint64_t theirs, uint64_t pause_ns) : ours_(ours), theirs_(theirs), pause_ns_(pause_ns) {}

  // Whether a frame may go so: none is on its way, and the last one that was too late is long ago.
  bool ready(uint64_t now) const { return bytes_ == 0 && now >= resume_ns_; }
  bool keeps() const { return bytes_ != 0; }
  // Numbers a frame and keeps it; what to send.
  std::span<const unsigned char> keep(const void* frame, size_t bytes, uint64_t now);
  // Nothing has come back for too long.
  bool late(uint64_t now) const { return bytes_ != 0 && now - sent_ns_ > late_ns; }
  // Then no frame is sent as a datagram for a while, each time twice as long, until one is acknowledged again.
  void pause(uint64_t now);
  // What to send over the connection instead of what was kept, which it is no more.
  std::unique_ptr<unsigned char[]> repeat(size_t& bytes);

  // Notes what has come in. Whether it brings a frame that was not here before.
  bool take(const Datagram& head, bool brings_frame, bool on_connection, uint64_t now);
  // The other side waits to hear that its frame has come in.
  bool owes() const { return owes_; }
  bool owes_long(uint64_t now) const { return owes_ && now - taken_ns_ > owed_ns; }
  Datagram acknowledgement();

 private:
  const uint64_t ours_, theirs_, pause_ns_;
  uint32_t next_ = 0;      // number of the frame that is sent next
  uint32_t expected_ = 0;  // number of the frame that comes next
  bool owes_ = false;
  uint32_t failures_ = 0;  // one after the other
  uint64_t sent_ns_ = 0, taken_ns_ = 0, resume_ns_ = 0;
  size_t bytes_ = 0;  // of what is kept; 0: nothing
  alignas(8) unsigned char copy_[sizeof(Datagram) + most];
};

}  // namespace weft::transport::tcp
