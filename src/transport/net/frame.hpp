// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The messages between hosts: a header, the data of the message, and behind them the sender's staged data. Fixed-width
// little-endian fields. Every frame is checked before the runtime sees a byte of it.
//
// A header carries a proof over all of it and over the frame's number, by a key of its sender and its receiver: nobody
// else can make one, change one, or send one again.

#include <bit>
#include <cstddef>
#include <cstdint>

#include "transport/api/transport.hpp"
#include "transport/net/proof.hpp"

namespace weft::transport::net {

static_assert(std::endian::native == std::endian::little, "the headers are sent as they lie in memory");

struct Header {
  uint16_t magic;     // the kind of frame and the version: sides whose versions differ do not talk
  uint16_t sequence;  // the lower part of the frame's number, of those that its sender sends to this lane
  uint32_t origin;    // the sender's rank in the job, by exclusive or with mask_of() the receiver
  uint64_t proof;     // proof_of()
  uint64_t stamp;
  uint32_t context;
  int32_t source;
  int32_t tag;
  uint32_t bytes;   // of data
  uint16_t staged;  // bytes behind the data
  uint8_t kind;
  uint8_t lane;
  uint32_t check;  // of all that is behind the header (check.hpp)
};
static_assert(sizeof(Header) == 48);

inline constexpr uint16_t magic = 0x0346;         // "F" in memory, and the version
inline constexpr uint16_t pushed_magic = 0x0350;  // "P": the data are not part of the frame, they follow it
inline constexpr uint16_t sealed_magic = 0x0353;  // "S": encrypted behind the header (cipher.hpp)
inline constexpr uint8_t taken = 29;              // of ours: `stamp` frames of ours of lane `source` were taken
inline constexpr uint8_t congestion = 30;         // of ours: `tag` says whether to send envelopes alone
static_assert(taken >= kind_limit && congestion >= kind_limit);
inline bool is_of_ours(uint8_t kind) {
  return kind == taken || kind == congestion;
}
inline constexpr size_t staging_most = 32 << 10;  // bytes staged for one message
static_assert(staging_most <= UINT16_MAX);
inline constexpr size_t staged_data_most = 64;    // bytes of data of a message with staging
inline constexpr size_t pushed_most = 128 << 10;  // bytes of data that follow a frame
inline constexpr size_t tag_bytes = 16;           // behind encrypted data
inline constexpr size_t frame_most = sizeof(Header) + staged_data_most + staging_most + tag_bytes;
static_assert(frame_most >= sizeof(Header) + mailbox_limit(1));

// The size of a frame by its own header; not yet checked.
inline size_t frame_bytes(const void* frame) {
  const auto* h = static_cast<const Header*>(frame);
  return sizeof(Header) + size_t{h->bytes} + h->staged + (h->magic == sealed_magic ? tag_bytes : 0);
}

// The key by which one rank proves its frames to another.
inline Key frame_key(const Key& secret, uint32_t from, uint32_t to) {
  return secret.derived(Purpose::frames, {pair_of(from, to)});
}
// Only ranks of the job know it, so it tells a frame of theirs that was changed on its way from one of another process.
inline uint32_t mask_of(const Key& secret, uint32_t to) {
  return static_cast<uint32_t>(secret.derived(Purpose::origins, {to}).words[0]);
}
// The proof of a header. Providers deliver large frames and small ones out of order, so the number is that of the
// sender; 0 for frames of ours, which bring a count that only grows.
uint64_t proof_of(const Header& header, uint64_t number, const Key& key);

// The receiver.
struct Receiver {
  uint32_t rank = 0, ranks = 0, lanes = 0;
  bool encrypted = false;  // and it rejects all other frames
  uint32_t side = 0;       // the bit in which senders differ from the receiver; 0: none need to
  uint32_t mask = 0;       // mask_of() it

  uint32_t sender_of(const Header& header) const { return header.origin ^ mask; }
  // Whether a rank may be the sender.
  bool hears(uint32_t from) const { return from < ranks && from != rank && ((from ^ rank) & side) == side; }
};

// Checks a frame of `bytes` that came in. nullptr: it is damaged, or not for us. Its proof is still to be checked.
const Header* check_frame(const void* frame, size_t bytes, const Receiver& by);
// Checks the header of pushed data likewise.
bool check_pushed(const Header& header, const Receiver& by);

}  // namespace weft::transport::net
