// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/copy.hpp"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace weft::base {

// Whole lines go past the caches; their parts at both ends do not. Vectors of 16 bytes, which every processor of this
// architecture has, fill a line as fast as larger ones.
void copy_past_caches(void* to, const void* from, size_t bytes) {
#if defined(__x86_64__)
  constexpr size_t line = 64;
  auto* out = static_cast<char*>(to);
  const auto* in = static_cast<const char*>(from);
  const size_t head = (line - reinterpret_cast<uintptr_t>(out) % line) % line;
  if (bytes < head + line) {
    std::memcpy(out, in, bytes);
    return;
  }
  std::memcpy(out, in, head);
  size_t at = head;
  for (; at + line <= bytes; at += line) {
    __m128i part[4];
    for (int i = 0; i < 4; ++i) part[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + at) + i);
    for (int i = 0; i < 4; ++i) _mm_stream_si128(reinterpret_cast<__m128i*>(out + at) + i, part[i]);
  }
  std::memcpy(out + at, in + at, bytes - at);
  _mm_sfence();  // such stores are not ordered with others
#else
  std::memcpy(to, from, bytes);
#endif
}

}  // namespace weft::base
