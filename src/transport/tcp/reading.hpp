// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Reading a peer's memory over a connection: the peer is asked for a piece, and sends it from where it lies to where it
// shall go, with no buffer of ours in between but for its beginning. Fixed-width little-endian fields; frames of
// messages travel between them, told apart by their first word.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "transport/net/frame.hpp"

namespace weft::transport::tcp {

// Please send these bytes.
struct Ask {
  uint32_t magic;
  uint32_t bytes;
  uint64_t key;  // as MemoryRef has it
  uint64_t address;
  uint64_t number;  // the asking side's number for it
  uint64_t unused;
  uint64_t proof;  // of all before, by the key of the connection
};
inline constexpr uint32_t ask_magic = 0x02415457;  // "WTA" in memory, and the version

// Here they are, behind this, filled up to a multiple of 16.
struct ReadAnswer {
  uint32_t magic;
  uint32_t error;  // errno: there is nothing behind this
  uint64_t number;
  uint64_t bytes;
  uint64_t check;  // of these (net/check.hpp); 0: none
  uint64_t unused;
  uint64_t proof;  // likewise
};
inline constexpr uint32_t answer_magic = 0x02525457;  // "WTR"

// Every item begins with so many bytes, which tell the rest.
inline constexpr size_t item_least = sizeof(net::Header);
static_assert(sizeof(Ask) == item_least && sizeof(ReadAnswer) == item_least && item_least % 16 == 0);

// The carrier's own items end with a proof. They are numbered, or can be used once: none can be sent again.
template <class Item>
uint64_t proof_of(const Item& item, const net::Key& key) {
  uint64_t words[item_least / sizeof(uint64_t)];
  static_assert(sizeof item == sizeof words && offsetof(Item, proof) == sizeof words - sizeof(uint64_t));
  std::memcpy(words, &item, sizeof item);
  return key.proof(words, std::size(words) - 1);
}

// Items follow each other at multiples of 16, so that a header can be read where it came in.
inline constexpr unsigned char zeros[16] = {};
constexpr size_t on_the_wire(size_t bytes) {
  return (bytes + 15) / 16 * 16;
}

}  // namespace weft::transport::tcp
