// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Encryption of what frames bring, for hostile networks (WEFT_ENCRYPT): AES-256-GCM of OpenSSL's libcrypto, which is
// loaded when a job asks for it. The header stays readable, and is part of what is authenticated.

#include <cstddef>
#include <cstdint>
#include <string>

#include "transport/net/frame.hpp"

namespace weft::transport::net {

// Whether libcrypto can be used; otherwise why not. Thread-safe.
[[nodiscard]] bool cipher_is_there(std::string& why_not);

// Encrypts the frames of one rank to another. The number of a frame on its lane makes each one's encryption different;
// no number may be used twice. Thread safety: one thread at a time.
class Cipher {
 public:
  // cipher_is_there() must have returned true.
  Cipher(const Key& secret, uint32_t from, uint32_t to);
  ~Cipher();
  Cipher(const Cipher&) = delete;
  Cipher& operator=(const Cipher&) = delete;

  // seal() encrypts `bytes` behind a header, from `plain` to `sealed`, which has space for tag_bytes more. open()
  // decrypts them; false: they were changed on their way.
  void seal(const Header& header, uint64_t number, const void* plain, size_t bytes, void* sealed);
  [[nodiscard]] bool open(const Header& header, uint64_t number, const void* sealed, size_t bytes, void* plain);

 private:
  bool run(const Header& header, uint64_t number, const void* from, size_t bytes, void* to, void* tag, bool seals);

  void* seals_;  // libcrypto's
  void* opens_;
};

}  // namespace weft::transport::net
