// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Memory for one operation: on the stack when it is small, so that small collectives allocate nothing.

#include <cstdint>

#include "coll/plan/scratch_pool.hpp"
#include "datatype/type.hpp"

namespace weft::coll {

// The memory that `count` elements of a type need.
struct ElementSpan {
  int64_t low;  // of the first byte, from the elements' address
  int64_t bytes;

  // An address for the elements as the user's buffer is one: the data may begin before or behind it.
  void* origin(void* memory) const {
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(memory) - static_cast<uintptr_t>(low));
  }
};

inline ElementSpan span_of(const datatype::Type& type, int64_t count) {
  const int64_t reach = count > 1 ? (count - 1) * type.extent : 0;
  return {type.true_lower_bound + (reach < 0 ? reach : 0), type.true_extent + (reach < 0 ? -reach : reach)};
}

class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    while (pieces_ > 0) {
      const ScratchPiece& piece = piece_[--pieces_];
      give_memory(piece.memory, piece.bytes);
    }
  }

  // Memory of `size` bytes, at most `most_pieces` times; nullptr when there is none.
  [[nodiscard]] void* bytes(int64_t size) {
    const int64_t rounded = (size + alignment - 1) & ~(alignment - 1);
    if (rounded <= static_cast<int64_t>(sizeof inline_) - used_) {
      void* memory = inline_ + used_;
      used_ += rounded;
      return memory;
    }
    void* memory = take_memory(size);
    if (memory != nullptr) piece_[pieces_++] = {memory, size};
    return memory;
  }

 private:
  static constexpr int64_t alignment = 64;
  static constexpr int most_pieces = 4;
  int64_t used_ = 0;
  int pieces_ = 0;
  struct ScratchPiece {
    void* memory;
    int64_t bytes;
  } piece_[most_pieces];
  alignas(alignment) unsigned char inline_[2048];
};

}  // namespace weft::coll
