// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Whether the buffers of a call share memory, which they must not.

#include <cstdint>
#include <string>

#include "datatype/type.hpp"

namespace weft::mpi {

// Whether two ranges share a byte. It takes a few instructions, and is true also for some ranges of which one is empty.
inline bool may_overlap(const void* a, uint64_t a_bytes, const void* b, uint64_t b_bytes) {
  const uintptr_t ahead = reinterpret_cast<uintptr_t>(b) - reinterpret_cast<uintptr_t>(a);
  return ahead < a_bytes || 0 - ahead < b_bytes;
}

// Memory that data fill without a gap. Data with gaps count as none: other data may lie in the gaps.
struct Filled {
  uintptr_t begin = 0;
  uint64_t bytes = 0;

  uintptr_t end() const { return begin + bytes; }
};

[[nodiscard]] Filled filled_by_blocks(const void* buffer, int64_t count, const datatype::Type& type);
[[nodiscard]] inline Filled filled(const void* buffer, int64_t count, const datatype::Type& type) {
  if (!type.contiguous) return filled_by_blocks(buffer, count, type);
  return {reinterpret_cast<uintptr_t>(buffer), static_cast<uint64_t>(count) * static_cast<uint64_t>(type.size)};
}

[[nodiscard]] inline bool overlap(const Filled& a, const Filled& b) {
  return a.bytes > 0 && b.bytes > 0 && (b.begin - a.begin < a.bytes || a.begin - b.begin < b.bytes);
}

// The beginning of the error's text.
[[nodiscard]] std::string overlap_text(const char* a_name, const Filled& a, const char* b_name, const Filled& b);

}  // namespace weft::mpi
