// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/net/frame.hpp"

#include <cstring>
#include <iterator>

namespace weft::transport::net {
namespace {

bool is_for(const Receiver& by, const Header& h) {
  return by.hears(by.sender_of(h)) && h.lane < by.lanes;
}

}  // namespace

uint64_t proof_of(const Header& header, uint64_t number, const Key& key) {
  uint64_t words[sizeof header / sizeof(uint64_t)];
  std::memcpy(words, &header, sizeof header);
  words[offsetof(Header, proof) / sizeof(uint64_t)] = number;
  return key.proof(words, std::size(words));
}

const Header* check_frame(const void* frame, size_t bytes, const Receiver& by) {
  if (bytes < sizeof(Header)) return nullptr;
  const auto* h = static_cast<const Header*>(frame);
  const uint32_t wanted = by.encrypted && !is_of_ours(h->kind) ? sealed_magic : magic;
  const bool whole = h->magic == wanted && frame_bytes(frame) == bytes && h->kind <= congestion;
  return whole && is_for(by, *h) ? h : nullptr;
}

bool check_pushed(const Header& h, const Receiver& by) {
  const bool understood =
      !by.encrypted && h.magic == pushed_magic && h.bytes <= pushed_most && h.staged == 0 && h.kind < taken;
  return understood && is_for(by, h);
}

}  // namespace weft::transport::net
