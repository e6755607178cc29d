// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/net/cipher.hpp"

#include <dlfcn.h>

#include <cstring>

#include "base/library.hpp"
#include "transport/api/failure.hpp"

namespace weft::transport::net {
namespace {

// These numbers and functions are of libcrypto's interface (openssl/evp.h), the same in versions 1.1 and 3.
constexpr int get_tag = 0x10, set_tag = 0x11;
struct CipherLibrary {
  void* (*context_new)();
  void (*context_free)(void* context);
  const void* (*aes_256_gcm)();
  int (*init)(void* context, const void* cipher, void* engine, const unsigned char* key, const unsigned char* nonce,
              int encrypts);
  int (*update)(void* context, unsigned char* to, int* length, const unsigned char* from, int bytes);
  int (*final)(void* context, unsigned char* to, int* length);
  int (*control)(void* context, int what, int bytes, void* value);
};

struct Loaded {
  CipherLibrary functions{};
  std::string why_not;
};

const Loaded& loaded() {
  static const Loaded one = [] {
    Loaded l;
    void* handle = nullptr;
    for (const char* name : {"libcrypto.so.3", "libcrypto.so.1.1"}) {
      if (handle == nullptr) handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    if (handle == nullptr) {
      l.why_not = dlerror();
      return l;
    }
    base::FunctionFinder finder(handle);
    finder.find("EVP_CIPHER_CTX_new", l.functions.context_new);
    finder.find("EVP_CIPHER_CTX_free", l.functions.context_free);
    finder.find("EVP_aes_256_gcm", l.functions.aes_256_gcm);
    finder.find("EVP_CipherInit_ex", l.functions.init);
    finder.find("EVP_CipherUpdate", l.functions.update);
    finder.find("EVP_CipherFinal_ex", l.functions.final);
    finder.find("EVP_CIPHER_CTX_ctrl", l.functions.control);
    l.why_not = finder.problem();
    return l;
  }();
  return one;
}

const CipherLibrary& library() {
  return loaded().functions;
}

void* new_context(const unsigned char* key, bool encrypts) {
  void* const context = library().context_new();
  if (context == nullptr || library().init(context, library().aes_256_gcm(), nullptr, key, nullptr, encrypts) != 1) {
    fail_for_good({.cause = "libcrypto has no AES-256-GCM", .remedy = "see which cipher policy this system sets"});
  }
  return context;
}

}  // namespace

bool cipher_is_there(std::string& why_not) {
  why_not = loaded().why_not;
  return why_not.empty();
}

Cipher::Cipher(const Key& secret, uint32_t from, uint32_t to) {
  unsigned char key[32];
  for (uint64_t half = 0; half < 2; ++half) {
    const Key part = secret.derived(Purpose::cipher, {pair_of(from, to), half});
    std::memcpy(key + half * sizeof part.words, part.words, sizeof part.words);
  }
  seals_ = new_context(key, true);
  opens_ = new_context(key, false);
}

Cipher::~Cipher() {
  library().context_free(seals_);
  library().context_free(opens_);
}

bool Cipher::run(const Header& header, uint64_t number, const void* from, size_t bytes, void* to, void* tag,
                 bool seals) {
  const CipherLibrary& l = library();
  void* const context = seals ? seals_ : opens_;
  unsigned char nonce[12] = {header.lane};
  std::memcpy(nonce + 4, &number, sizeof number);
  auto* const out = static_cast<unsigned char*>(to);
  int length = 0;
  return l.init(context, nullptr, nullptr, nullptr, nonce, seals) == 1 &&
         l.update(context, nullptr, &length, reinterpret_cast<const unsigned char*>(&header), sizeof header) == 1 &&
         (bytes == 0 ||
          l.update(context, out, &length, static_cast<const unsigned char*>(from), static_cast<int>(bytes)) == 1) &&
         (seals || l.control(context, set_tag, tag_bytes, tag) == 1) && l.final(context, out + bytes, &length) == 1 &&
         (!seals || l.control(context, get_tag, tag_bytes, tag) == 1);
}

void Cipher::seal(const Header& header, uint64_t number, const void* plain, size_t bytes, void* sealed) {
  if (!run(header, number, plain, bytes, sealed, static_cast<unsigned char*>(sealed) + bytes, true)) {
    fail_for_good({.cause = "libcrypto could not encrypt a message", .remedy = ""});
  }
}

bool Cipher::open(const Header& header, uint64_t number, const void* sealed, size_t bytes, void* plain) {
  unsigned char tag[tag_bytes];
  std::memcpy(tag, static_cast<const unsigned char*>(sealed) + bytes, sizeof tag);
  return run(header, number, sealed, bytes, plain, tag, false);
}

}  // namespace weft::transport::net
