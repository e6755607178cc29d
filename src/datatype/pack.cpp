// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// One walk serves both directions: it visits the packed bytes in order and copies between them and their places.
// Addresses are integers, because MPI_BOTTOM is a null pointer to which absolute offsets are added.

#include "datatype/pack.hpp"

#include <algorithm>
#include <cstring>

namespace weft::datatype {
namespace {

enum class Direction { pack, unpack };

template <Direction direction>
inline void move(uintptr_t place, char* packed, int64_t bytes) {
  char* at = reinterpret_cast<char*>(place);
  if constexpr (direction == Direction::pack) {
    std::memcpy(packed, at, static_cast<size_t>(bytes));
  } else {
    std::memcpy(at, packed, static_cast<size_t>(bytes));
  }
}

inline uintptr_t advance(uintptr_t place, int64_t offset) {
  return place + static_cast<uintptr_t>(offset);
}

// Blocks of a size known here become single loads and stores.
template <Direction direction, int64_t block>
void move_blocks(uintptr_t place, int64_t stride, char* packed, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    move<direction>(place, packed, block);
    place = advance(place, stride);
    packed += block;
  }
}

template <Direction direction>
class Walk {
 public:
  // The loops of `count` elements: those of one element, inside a loop over elements unless that continues them.
  Walk(const Type& type, int64_t count, uintptr_t buffer)
      : block_(type.block), pieces_(type.pieces), piece_count_(type.piece_count), start_(advance(buffer, type.first)) {
    const bool merges = count == 1 || (type.loops == 0 ? !pieces_ && type.extent == type.block
                                                       : type.extent == type.loop[0].count * type.loop[0].stride);
    if (!merges) loop_[loops_++] = {count, type.extent};
    std::copy(type.loop, type.loop + type.loops, loop_ + loops_);
    loops_ += type.loops;
    if (merges && type.loops == 0) block_ *= count;
    if (merges && type.loops > 0) loop_[0].count *= count;
    inner_ = loops_ == 0 ? Loop{1, 0} : loop_[--loops_];
  }

  void run(int64_t position, char* packed, int64_t bytes) {
    const int64_t row = inner_.count * block_;
    int64_t index = position / row;
    int64_t skip = position % row;
    int64_t digit[max_loops + 1];
    uintptr_t place = start_;
    for (int k = loops_ - 1; k >= 0; --k) {
      digit[k] = index % loop_[k].count;
      index /= loop_[k].count;
      place = advance(place, digit[k] * loop_[k].stride);
    }
    while (true) {
      const int64_t part = std::min(bytes, row - skip);
      if (part == row) {
        blocks(place, packed, inner_.count);
      } else {
        part_of_row(place, skip, packed, part);
      }
      packed += part;
      bytes -= part;
      skip = 0;
      if (bytes <= 0) return;
      for (int k = loops_ - 1; k >= 0; --k) {
        if (++digit[k] < loop_[k].count) {
          place = advance(place, loop_[k].stride);
          break;
        }
        place = advance(place, -(digit[k] - 1) * loop_[k].stride);
        digit[k] = 0;
      }
    }
  }

 private:
  // Whole blocks of the innermost loop.
  void blocks(uintptr_t place, char* packed, int64_t count) const {
    if (!pieces_) {
      switch (block_) {
        case 1:
          return move_blocks<direction, 1>(place, inner_.stride, packed, count);
        case 2:
          return move_blocks<direction, 2>(place, inner_.stride, packed, count);
        case 4:
          return move_blocks<direction, 4>(place, inner_.stride, packed, count);
        case 8:
          return move_blocks<direction, 8>(place, inner_.stride, packed, count);
        case 16:
          return move_blocks<direction, 16>(place, inner_.stride, packed, count);
        default:
          break;
      }
    }
    for (int64_t i = 0; i < count; ++i) {
      part_of_block(place, 0, packed, block_);
      place = advance(place, inner_.stride);
      packed += block_;
    }
  }

  // Bytes [skip, skip + bytes) of the innermost loop: the end of a block, whole ones, the beginning of another.
  void part_of_row(uintptr_t place, int64_t skip, char* packed, int64_t bytes) const {
    place = advance(place, skip / block_ * inner_.stride);
    const int64_t offset = skip % block_;
    if (offset != 0) {
      const int64_t part = std::min(bytes, block_ - offset);
      part_of_block(place, offset, packed, part);
      place = advance(place, inner_.stride);
      packed += part;
      bytes -= part;
    }
    const int64_t whole = bytes / block_;
    blocks(place, packed, whole);
    const int64_t done = whole * block_;
    if (bytes > done) part_of_block(advance(place, whole * inner_.stride), 0, packed + done, bytes - done);
  }

  void part_of_block(uintptr_t place, int64_t offset, char* packed, int64_t bytes) const {
    if (!pieces_) return move<direction>(advance(place, offset), packed, bytes);
    const Piece* piece = pieces_;
    if (offset != 0) {
      piece = std::upper_bound(pieces_, pieces_ + piece_count_, offset,
                               [](int64_t at, const Piece& one) { return at < one.packed; }) -
              1;
    }
    int64_t skip = offset - piece->packed;
    while (bytes > 0) {
      const int64_t part = std::min(bytes, piece->bytes - skip);
      move<direction>(advance(place, piece->offset + skip), packed, part);
      packed += part;
      bytes -= part;
      skip = 0;
      ++piece;
    }
  }

  int64_t block_;
  const Piece* pieces_;
  int64_t piece_count_;
  uintptr_t start_;
  Loop inner_;
  int loops_ = 0;  // those outside the innermost
  Loop loop_[max_loops + 1];
};

template <Direction direction>
inline void walk(const Type& type, int64_t count, uintptr_t buffer, int64_t position, char* packed, int64_t bytes) {
  bytes = std::min(bytes, count * type.size - position);
  if (bytes <= 0) return;
  if (type.contiguous) return move<direction>(advance(buffer, position), packed, bytes);
  Walk<direction>(type, count, buffer).run(position, packed, bytes);
}

}  // namespace

void pack(const Type& type, int64_t count, const void* buffer, int64_t position, void* out, int64_t bytes) {
  walk<Direction::pack>(type, count, reinterpret_cast<uintptr_t>(buffer), position, static_cast<char*>(out), bytes);
}

void unpack(const Type& type, int64_t count, void* buffer, int64_t position, const void* in, int64_t bytes) {
  char* packed = static_cast<char*>(const_cast<void*>(in));
  walk<Direction::unpack>(type, count, reinterpret_cast<uintptr_t>(buffer), position, packed, bytes);
}

void copy(const Type& from, int64_t from_count, const void* source, const Type& to, int64_t to_count, void* target,
          int64_t bytes) {
  bytes = std::min({bytes, from_count * from.size, to_count * to.size});
  if (from.contiguous) return unpack(to, to_count, target, 0, source, bytes);
  if (to.contiguous) return pack(from, from_count, source, 0, target, bytes);
  char stage[8192];  // stays in the first cache
  for (int64_t position = 0; position < bytes; position += sizeof stage) {
    const int64_t part = std::min<int64_t>(bytes - position, sizeof stage);
    pack(from, from_count, source, position, stage, part);
    unpack(to, to_count, target, position, stage, part);
  }
}

}  // namespace weft::datatype
