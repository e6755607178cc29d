// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Blocks of several ranks, packed one behind the other: they go as one message.

#include "coll/plan/block.hpp"

namespace weft::coll {

struct Packed {
  unsigned char* data;  // nullptr: no memory, and the way knows
  int64_t block_bytes;
  const int64_t* starts = nullptr;  // where each begins, and the end, unless all are of one size

  template <class Way>
  static Packed make(Way& way, int32_t count, int64_t block_bytes) {
    return {static_cast<unsigned char*>(way.bytes(count * block_bytes)), block_bytes};
  }
  // For `count` blocks, of which bytes_of(i) says how large each is.
  template <class Way, class BytesOf>
  static Packed make_for(Way& way, int32_t count, BytesOf&& bytes_of) {
    auto* starts = static_cast<int64_t*>(way.bytes((count + 1) * static_cast<int64_t>(sizeof(int64_t))));
    if (starts == nullptr) return {nullptr, 0};
    starts[0] = 0;
    for (int32_t i = 0; i < count; ++i) starts[i + 1] = starts[i] + bytes_of(i);
    return {static_cast<unsigned char*>(way.bytes(starts[count])), 0, starts};
  }
  int64_t start(int32_t i) const { return starts != nullptr ? starts[i] : i * block_bytes; }
  Block blocks(int32_t first, int32_t count) const {
    return {data + start(first), start(first + count) - start(first), &byte_type};
  }
  // The first bytes of a block.
  Block part(int32_t i, int64_t bytes) const { return {data + i * block_bytes, bytes, &byte_type}; }
};

}  // namespace weft::coll
