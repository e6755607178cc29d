// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Lists of blocks: layouts that loops do not express. Never changed once made, and shared by all layouts that contain
// them.

#include "base/count.hpp"
#include "datatype/type.hpp"

namespace weft::datatype {

struct BlockTable {
  base::HolderCount references;
  int64_t count = 0;
  int64_t each = 0;                 // bytes of data in every block when all have as many, otherwise 0
  const int64_t* offset = nullptr;  // of each block from the place of the list; the first is 0
  const int64_t* packed = nullptr;  // count + 1 of them: bytes before each block, and in all; nullptr with `each`
  const int32_t* inside = nullptr;  // for each block: which of `nests` it is, contiguous_block for none
  const Nest* nests = nullptr;      // those that occur; without `inside` every block is the first of them
  int32_t nest_count = 0;           // 0: all blocks are contiguous

  [[nodiscard]] int64_t packed_before(int64_t i) const { return packed ? packed[i] : i * each; }
  [[nodiscard]] int64_t bytes_of(int64_t i) const { return packed ? packed[i + 1] - packed[i] : each; }
  // nullptr: contiguous bytes.
  [[nodiscard]] const Nest* nest_of(int64_t i) const {
    if (nest_count == 0) return nullptr;
    if (!inside) return nests;
    return inside[i] < 0 ? nullptr : &nests[inside[i]];
  }
  // The block that holds packed byte `position` of the list.
  [[nodiscard]] int64_t find(int64_t position) const;
};

inline constexpr int32_t contiguous_block = -1;

void hold(const BlockTable* blocks);
void drop(const BlockTable* blocks);

// Makes a nest `count` copies of itself, `stride` apart: one more outermost loop, merged where it continues the one
// inside it. The nest owns its blocks. false: no memory, and the nest is as before.
[[nodiscard]] bool repeat(Nest& nest, int64_t count, int64_t stride);

// A list of blocks under construction, in the order of their data.
class BlockList {
 public:
  BlockList() = default;
  BlockList(const BlockList&) = delete;
  BlockList& operator=(const BlockList&) = delete;
  ~BlockList();

  // Contiguous bytes, at least one; merged with the block before where they continue it. false: no memory.
  [[nodiscard]] bool add_bytes(int64_t offset, int64_t bytes);

  // `count` nests, `stride` apart, `bytes` of data in all. false: no memory.
  [[nodiscard]] bool add_nest(int64_t offset, const Nest& nest, int64_t count, int64_t stride, int64_t bytes);

  // The layout of the list, once: its nest, which then owns its blocks, and the offset of its first block. false: no
  // memory.
  [[nodiscard]] bool finish(Nest& nest, int64_t& first);

 private:
  struct Entry {
    int64_t offset;
    int64_t bytes;
    int32_t inside;
  };
  // The nests already made, by their sources, so that equal ones are one.
  struct Made {
    const Nest* from;
    int64_t count;
    int64_t stride;
    int32_t index;
  };
  static constexpr int made_slots = 64;

  bool push(Entry entry);
  int32_t add_repeated(const Nest& nest, int64_t count, int64_t stride);
  bool is_even() const;
  bool fold(Nest& nest);
  BlockTable* build();

  Entry* entries_ = nullptr;
  int64_t count_ = 0;
  int64_t room_ = 0;
  Nest* nests_ = nullptr;
  int32_t nest_count_ = 0;
  int32_t nest_room_ = 0;
  Made made_[made_slots] = {};
};

}  // namespace weft::datatype
