// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Blocks for other ranks in a place of a shared region (coll/shm/shared_region.hpp), of sizes that only the two sides
// know: a slot has the size of a block and, where they fit, its data.

#include <algorithm>
#include <cstring>

#include "coll/plan/pieces.hpp"

namespace weft::coll {

class CollectiveSlots {
 public:
  // The bytes before the data in a slot and in a place. The data begin with a cache line, since copies by `rep movsb`
  // to other offsets of a page took twice as long.
  static constexpr int64_t head = 64;

  CollectiveSlots(int64_t place_bytes, int32_t count) : bytes_(place_bytes / count / head * head) {}

  int64_t bytes() const { return bytes_; }
  int64_t room() const { return bytes_ - head; }
  bool has_room(int64_t bytes) const { return bytes <= room(); }

  void put(const Block& block, unsigned char* slot) const {
    const int64_t size = block.bytes();
    std::memcpy(slot, &size, sizeof size);
    if (size > 0 && has_room(size)) pack_piece(block, 0, data(slot), size);
  }
  // Puts as much of a block into its slot as fits; the remainder follows.
  void put_beginning(const Block& block, unsigned char* slot) const {
    const int64_t size = block.bytes();
    std::memcpy(slot, &size, sizeof size);
    if (size > 0) pack_piece(block, 0, data(slot), std::min(size, room()));
  }
  void take_beginning(const unsigned char* slot, const Block& to) const {
    if (const int64_t bytes = std::min(size(slot), room())) unpack_piece(data(slot), to, 0, bytes);
  }
  static int64_t size(const unsigned char* slot) {
    int64_t size = 0;
    std::memcpy(&size, slot, sizeof size);
    return size;
  }
  static unsigned char* data(unsigned char* slot) { return slot + head; }
  static const unsigned char* data(const unsigned char* slot) { return slot + head; }
  // Takes a block whose data are all in its slot; `to` is at least as long.
  static void take(const unsigned char* slot, const Block& to) {
    if (const int64_t bytes = size(slot)) unpack_piece(data(slot), to, 0, bytes);
  }

 private:
  int64_t bytes_;
};

}  // namespace weft::coll
