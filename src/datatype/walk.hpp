// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Visits the data of elements in the order of their packed bytes, from any byte on. The sink decides what is done with
// them: packing, unpacking, listing addresses. Finding the first byte takes a division for each loop and a search in
// each list; nothing grows with the position. Addresses are integers, because MPI_BOTTOM is a null pointer to which
// absolute offsets are added.
//
// A sink has
//   bool rows(const Rows& rows, int64_t block);  // contiguous blocks
//   bool list(uintptr_t place, const BlockTable& blocks, int64_t from, int64_t to);  // those blocks, all contiguous
//   bool lists(uintptr_t place, int64_t stride, int64_t count, const BlockTable& blocks);  // the list `count` times
//   bool bytes(uintptr_t place, int64_t bytes);
// and each says whether to go on.

#include <algorithm>

#include "datatype/blocks.hpp"
#include "datatype/type.hpp"

namespace weft::datatype {

inline uintptr_t advance(uintptr_t place, int64_t offset) {
  return place + static_cast<uintptr_t>(offset);
}

// The nest of `count` elements: that of one, inside a loop over elements unless that continues it. It borrows the
// blocks.
inline Nest elements_nest(const Type& type, int64_t count) {
  const Nest& one = type.nest;
  Nest nest;
  nest.block = one.block;
  nest.blocks = one.blocks;
  const bool continues =
      one.loops == 0 ? !one.blocks && type.extent == one.block : type.extent == one.loop[0].count * one.loop[0].stride;
  if (count > 1 && !continues) nest.loop[nest.loops++] = {count, type.extent};
  std::copy(one.loop, one.loop + one.loops, nest.loop + nest.loops);
  nest.loops += one.loops;
  if (continues) (one.loops == 0 ? nest.block : nest.loop[0].count) *= count;
  return nest;
}

// Blocks at equal distances, in rows at equal distances.
struct Rows {
  uintptr_t place;
  int64_t stride;
  int64_t count;  // in a row
  int64_t row_stride;
  int64_t rows;
};

template <class Sink>
class Walk {
 public:
  explicit Walk(Sink& sink) : sink_(sink) {}

  // Bytes [position, position + bytes) of `count` elements; all of them must be there.
  void run(const Type& type, int64_t count, uintptr_t buffer, int64_t position, int64_t bytes) {
    const Nest nest = elements_nest(type, count);
    const uintptr_t place = advance(buffer, type.first);
    if (position == 0 && bytes == count * type.size) {
      whole(nest, place);
    } else {
      part(nest, place, position, bytes);
    }
  }

 private:
  bool whole(const Nest& nest, uintptr_t place) {
    return nest.loops == 0 ? blocks(nest, place, 0, 1) : loop(nest, 0, nest.loop[0].count, place);
  }

  // `count` times the data of loop `level`.
  bool loop(const Nest& nest, int level, int64_t count, uintptr_t place) {
    const int64_t stride = nest.loop[level].stride;
    if (level == nest.loops - 1) return blocks(nest, place, stride, count);
    const Loop& inner = nest.loop[level + 1];
    if (level == nest.loops - 2 && !nest.blocks) {
      return sink_.rows({place, inner.stride, inner.count, stride, count}, nest.block);
    }
    for (int64_t i = 0; i < count; ++i, place = advance(place, stride)) {
      if (!loop(nest, level + 1, inner.count, place)) return false;
    }
    return true;
  }

  bool blocks(const Nest& nest, uintptr_t place, int64_t stride, int64_t count) {
    if (!nest.blocks) return sink_.rows({place, stride, count, 0, 1}, nest.block);
    if (nest.blocks->nest_count == 0) return sink_.lists(place, stride, count, *nest.blocks);
    for (int64_t i = 0; i < count; ++i, place = advance(place, stride)) {
      if (!list(*nest.blocks, place, 0, nest.blocks->count)) return false;
    }
    return true;
  }

  bool list(const BlockTable& blocks, uintptr_t place, int64_t from, int64_t to) {
    if (blocks.nest_count == 0) return sink_.list(place, blocks, from, to);
    for (int64_t i = from; i < to; ++i) {
      const uintptr_t at = advance(place, blocks.offset[i]);
      const Nest* inside = blocks.nest_of(i);
      if (!(inside ? whole(*inside, at) : sink_.bytes(at, blocks.bytes_of(i)))) return false;
    }
    return true;
  }

  // Bytes [skip, skip + bytes) of a nest.
  bool part(const Nest& nest, uintptr_t place, int64_t skip, int64_t bytes) {
    int64_t inside[max_loops + 1];  // bytes in one turn of each loop
    int64_t turn = nest.block;
    for (int k = nest.loops - 1; k >= 0; turn *= nest.loop[k--].count) inside[k] = turn;
    return part_of_loop(nest, inside, 0, place, skip, bytes);
  }

  bool part_of_loop(const Nest& nest, const int64_t* inside, int level, uintptr_t place, int64_t skip, int64_t bytes) {
    if (level >= nest.loops) return part_of_block(nest, place, skip, bytes);
    const int64_t stride = nest.loop[level].stride;
    const int64_t turn = inside[level];
    place = advance(place, skip / turn * stride);
    skip %= turn;
    if (skip != 0) {
      const int64_t some = std::min(bytes, turn - skip);
      if (!part_of_loop(nest, inside, level + 1, place, skip, some)) return false;
      place = advance(place, stride);
      bytes -= some;
    }
    const int64_t turns = bytes / turn;
    if (turns > 0 && !loop(nest, level, turns, place)) return false;
    bytes -= turns * turn;
    return bytes == 0 || part_of_loop(nest, inside, level + 1, advance(place, turns * stride), 0, bytes);
  }

  bool part_of_block(const Nest& nest, uintptr_t place, int64_t skip, int64_t bytes) {
    if (!nest.blocks) return sink_.bytes(advance(place, skip), bytes);
    const BlockTable& blocks = *nest.blocks;
    int64_t i = skip == 0 ? 0 : blocks.find(skip);
    skip -= blocks.packed_before(i);
    if (skip != 0) {
      const int64_t some = std::min(bytes, blocks.bytes_of(i) - skip);
      if (!part_of_one(blocks, i, place, skip, some)) return false;
      bytes -= some;
      ++i;
    }
    if (bytes == 0) return true;
    const int64_t until = blocks.packed_before(i) + bytes;
    const int64_t end = until == nest.block ? blocks.count : blocks.find(until);
    if (end > i && !list(blocks, place, i, end)) return false;
    const int64_t rest = end == blocks.count ? 0 : until - blocks.packed_before(end);
    return rest == 0 || part_of_one(blocks, end, place, 0, rest);
  }

  bool part_of_one(const BlockTable& blocks, int64_t i, uintptr_t place, int64_t skip, int64_t bytes) {
    place = advance(place, blocks.offset[i]);
    const Nest* inside = blocks.nest_of(i);
    return inside ? part(*inside, place, skip, bytes) : sink_.bytes(advance(place, skip), bytes);
  }

  Sink& sink_;
};

}  // namespace weft::datatype
