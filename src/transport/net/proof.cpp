// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/net/proof.hpp"

#include <sys/random.h>

#include <bit>
#include <cerrno>

#include "base/message.hpp"
#include "transport/api/failure.hpp"
#include "transport/net/socket.hpp"

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

Key Key::of_secret(std::string_view secret) {
  Key key;
  for (size_t i = 0; i < secret.size() && i < 32; ++i) key.words[i / 16] = key.words[i / 16] << 4 | digit(secret[i]);
  return key;
}

uint64_t Key::proof(const uint64_t* said, size_t count) const {
  Sip sip(words[0], words[1]);
  for (size_t i = 0; i < count; ++i) sip.take(said[i]);
  sip.take(uint64_t{8 * count} << 56);  // the length of what came before, modulo 256
  return sip.end();
}

Key Key::derived(Purpose purpose, std::initializer_list<uint64_t> whose) const {
  Key key;
  for (uint64_t half = 0; half < 2; ++half) {
    Sip sip(words[0], words[1]);
    sip.take(static_cast<uint64_t>(purpose) << 8 | half);
    for (const uint64_t word : whose) sip.take(word);
    sip.take(uint64_t{8 * (whose.size() + 1)} << 56);
    key.words[half] = sip.end();
  }
  return key;
}

uint64_t fresh_nonce() {
  uint64_t nonce = 0;
  for (;;) {
    if (::getrandom(&nonce, sizeof nonce, 0) == static_cast<ssize_t>(sizeof nonce)) return nonce;
    if (errno != EINTR) {
      fail_for_good({.cause = "the system gives no random numbers: " + text_of_error(errno), .remedy = ""});
    }
  }
}

}  // namespace weft::transport::net
