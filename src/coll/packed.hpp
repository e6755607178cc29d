// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Blocks of several ranks, all of one size, packed one behind the other: they go as one message.

#include "coll/channel.hpp"

namespace weft::coll {

struct Packed {
  unsigned char* data;  // nullptr: no memory, and the way knows
  int64_t block_bytes;

  template <class Way>
  static Packed make(Way& way, int32_t count, int64_t block_bytes) {
    return {static_cast<unsigned char*>(way.bytes(count * block_bytes)), block_bytes};
  }
  Block blocks(int32_t first, int32_t count) const {
    return {data + first * block_bytes, count * block_bytes, &byte_type};
  }
  // The first bytes of a block.
  Block part(int32_t i, int64_t bytes) const { return {data + i * block_bytes, bytes, &byte_type}; }
};

}  // namespace weft::coll
