// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Blocks for other ranks in a place of a room (coll/room.hpp), of sizes that only the two sides know: a slot has the
// size of a block and, where there is room, its data.

#include <cstring>

#include "coll/block.hpp"
#include "datatype/pack.hpp"

namespace weft::coll {

inline void pack_block(const Block& block, void* to) {
  if (block.type->contiguous) {
    std::memcpy(to, block.data, static_cast<size_t>(block.bytes()));
  } else {
    datatype::pack(*block.type, block.count, block.data, 0, to, block.bytes());
  }
}

class Slots {
 public:
  static constexpr int64_t word = sizeof(int64_t);

  Slots(int64_t place_bytes, int32_t count) : bytes_(place_bytes / count / word * word) {}

  int64_t bytes() const { return bytes_; }
  bool has_room(int64_t bytes) const { return bytes <= bytes_ - word; }

  void put(const Block& block, unsigned char* slot) const {
    const int64_t size = block.bytes();
    std::memcpy(slot, &size, word);
    if (size > 0 && has_room(size)) pack_block(block, data(slot));
  }
  static int64_t size(const unsigned char* slot) {
    int64_t size = 0;
    std::memcpy(&size, slot, word);
    return size;
  }
  static unsigned char* data(unsigned char* slot) { return slot + word; }
  static const unsigned char* data(const unsigned char* slot) { return slot + word; }
  // Its data are here, and not more than the block has room for.
  static void take(const unsigned char* slot, const Block& to) {
    const int64_t bytes = size(slot);
    if (bytes == 0) return;
    if (to.type->contiguous) {
      std::memcpy(to.data, data(slot), static_cast<size_t>(bytes));
    } else {
      datatype::unpack(*to.type, to.count, to.data, 0, data(slot), bytes);
    }
  }

 private:
  int64_t bytes_;
};

}  // namespace weft::coll
