// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The messages between hosts: a header, the data of the message, and behind them the sender's staged data. Fixed-width
// little-endian fields. Every frame is checked before the runtime sees a byte of it.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "transport/api/transport.hpp"

namespace weft::transport::net {

static_assert(std::endian::native == std::endian::little, "the headers are sent as they lie in memory");

struct Header {
  uint32_t magic;   // what and which version: two that differ do not talk
  uint32_t origin;  // the sender's rank in the job
  uint64_t proof;   // that the sender knows the job's secret: Proofs
  uint64_t stamp;
  uint32_t context;
  int32_t source;
  int32_t tag;
  uint32_t bytes;   // of data
  uint32_t staged;  // bytes behind the data
  uint8_t kind;
  uint8_t lane;
  uint16_t sequence;  // of what this sender sends to this lane: providers deliver large and small out of order
};
static_assert(sizeof(Header) == 48);

inline constexpr uint32_t magic = 0x01464557;         // "WEF" in memory, and the version
inline constexpr uint32_t pushed_magic = 0x01504557;  // "WEP": the data are not part of the frame, they follow it
inline constexpr uint8_t taken = 29;                  // of ours: `tag` frames of ours of lane `source` were taken
inline constexpr uint8_t congestion = 30;             // of ours: `tag` says whether to send envelopes alone
static_assert(taken >= kind_limit && congestion >= kind_limit);
inline bool is_of_ours(uint8_t kind) {
  return kind == taken || kind == congestion;
}
inline constexpr size_t staging_most = 32 << 10;  // bytes staged for one message
inline constexpr size_t staged_data_most = 64;    // bytes of data of a message with staging
inline constexpr size_t pushed_most = 128 << 10;  // bytes of data that follow a frame
inline constexpr size_t frame_most = sizeof(Header) + staged_data_most + staging_most;
static_assert(frame_most >= sizeof(Header) + mailbox_limit(1));

// The size of a frame by its own header; not yet checked.
inline size_t frame_bytes(const void* frame) {
  const auto* h = static_cast<const Header*>(frame);
  return sizeof(Header) + size_t{h->bytes} + h->staged;
}

// A number for each ordered pair of ranks that only who knows the job's secret can make (SipHash-2-4).
class Proofs {
 public:
  // 32 hexadecimal digits.
  explicit Proofs(std::string_view secret);
  uint64_t of(uint32_t from, uint32_t to) const;

  // The proof of who was heard last, by who hears: most frames come from the same rank as the one before.
  struct Last {
    uint32_t from = ~0u;
    uint64_t proof = 0;
  };
  uint64_t of(uint32_t from, uint32_t to, Last& last) const {
    if (from != last.from) last = {from, of(from, to)};
    return last.proof;
  }

 private:
  uint64_t key_[2] = {};
};

// The data for checking the frames of a lane.
struct Checker {
  const Proofs* proofs = nullptr;
  uint32_t rank = 0, ranks = 0, lanes = 0;
  Proofs::Last last{};
};

// Checks what came in against us: `frame` of `bytes`. nullptr: it is not from a rank of this job, or is damaged.
const Header* check_frame(const void* frame, size_t bytes, Checker& checker);
// The same for the header of pushed data.
bool check_pushed(const Header& header, Checker& checker);

}  // namespace weft::transport::net
