// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/net/frame.hpp"

#include <bit>

namespace weft::transport::net {
namespace {

uint64_t digit(char c) {
  return static_cast<uint64_t>(c >= 'a' ? c - 'a' + 10 : c - '0');
}

// SipHash (Aumasson, Bernstein: "SipHash: a fast short-input PRF", 2012).
class Sip {
 public:
  Sip(uint64_t k0, uint64_t k1)
      : v_{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573} {}

  void take(uint64_t word) {
    v_[3] ^= word;
    round();
    round();
    v_[0] ^= word;
  }
  uint64_t end() {
    v_[2] ^= 0xff;
    for (int i = 0; i < 4; ++i) round();
    return v_[0] ^ v_[1] ^ v_[2] ^ v_[3];
  }

 private:
  void round() {
    v_[0] += v_[1];
    v_[1] = std::rotl(v_[1], 13) ^ v_[0];
    v_[0] = std::rotl(v_[0], 32);
    v_[2] += v_[3];
    v_[3] = std::rotl(v_[3], 16) ^ v_[2];
    v_[0] += v_[3];
    v_[3] = std::rotl(v_[3], 21) ^ v_[0];
    v_[2] += v_[1];
    v_[1] = std::rotl(v_[1], 17) ^ v_[2];
    v_[2] = std::rotl(v_[2], 32);
  }
  uint64_t v_[4];
};

}  // namespace

Proofs::Proofs(std::string_view secret) {
  for (size_t i = 0; i < secret.size() && i < 32; ++i) key_[i / 16] = key_[i / 16] << 4 | digit(secret[i]);
}

uint64_t Proofs::of(uint32_t from, uint32_t to) const {
  Sip sip(key_[0], key_[1]);
  sip.take(uint64_t{from} << 32 | to);
  sip.take(uint64_t{8} << 56);  // the length of what came before
  return sip.end();
}

namespace {

bool is_ours(const Header& h, Checker& by) {
  return h.origin < by.ranks && h.lane < by.lanes && h.proof == by.proofs->of(h.origin, by.rank, by.last);
}

}  // namespace

const Header* check_frame(const void* frame, size_t bytes, Checker& checker) {
  if (bytes < sizeof(Header)) return nullptr;
  const auto* h = static_cast<const Header*>(frame);
  const bool whole = h->magic == magic && frame_bytes(frame) == bytes && h->kind <= congestion;
  return whole && is_ours(*h, checker) ? h : nullptr;
}

bool check_pushed(const Header& h, Checker& checker) {
  const bool understood = h.magic == pushed_magic && h.bytes <= pushed_most && h.staged == 0 && h.kind < taken;
  return understood && is_ours(h, checker);
}

}  // namespace weft::transport::net
