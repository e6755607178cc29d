// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Derived layouts. Each constructor is the old layout repeated, and a repetition adds at most one loop.

#include <cstdlib>
#include <cstring>

#include "datatype/pack.hpp"
#include "datatype/predefined.hpp"

namespace weft::datatype {
namespace {

[[nodiscard]] bool multiply(int64_t a, int64_t b, int64_t& out) {
  return !__builtin_mul_overflow(a, b, &out);
}
[[nodiscard]] bool add(int64_t a, int64_t b, int64_t& out) {
  return !__builtin_add_overflow(a, b, &out);
}

// A layout under construction: a Type by value that owns its pieces, except those it still borrows from the old one.
struct Layout {
  Type type;
  const Piece* borrowed;

  explicit Layout(const Type& old) : type(old), borrowed(old.pieces) {
    type.kind = base::Kind::datatype;
    type.committed = false;
    type.predefined = false;
    type.name = "";
    type.owner = nullptr;
  }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  ~Layout() { drop_pieces(); }

  void drop_pieces() {
    if (type.pieces != borrowed) std::free(const_cast<Piece*>(type.pieces));
    type.pieces = nullptr;
    type.piece_count = 0;
  }

  void clear() {
    drop_pieces();
    type.basic = Basic::none;
    type.size = type.extent = type.lower_bound = type.true_lower_bound = type.true_extent = 0;
    type.block = type.first = type.basic_count = 0;
    type.loops = 0;
  }

  bool repeat(int64_t count, int64_t stride);
  bool add_loop(int64_t count, int64_t stride);
  bool fold_innermost();
  Type* finish();
};

// The room that `count` copies take, `stride` apart.
[[nodiscard]] bool widen(int64_t& lower, int64_t& extent, int64_t count, int64_t stride) {
  int64_t span = 0;
  if (!multiply(count - 1, stride, span)) return false;
  if (span >= 0) return add(extent, span, extent);
  return add(lower, span, lower) && !__builtin_sub_overflow(extent, span, &extent);
}

bool Layout::repeat(int64_t count, int64_t stride) {
  if (count == 1) return true;
  if (!widen(type.lower_bound, type.extent, count, stride)) return false;
  if (type.size == 0) return true;
  return widen(type.true_lower_bound, type.true_extent, count, stride) && multiply(type.size, count, type.size) &&
         multiply(type.basic_count, count, type.basic_count) && add_loop(count, stride);
}

// A new outermost loop, merged where it continues the one inside it.
bool Layout::add_loop(int64_t count, int64_t stride) {
  if (type.loops == 0 && !type.pieces && stride == type.block) {
    type.block *= count;
    return true;
  }
  if (type.loops > 0 && stride == type.loop[0].count * type.loop[0].stride) {
    type.loop[0].count *= count;
    return true;
  }
  if (type.loops == max_loops && !fold_innermost()) return false;
  for (int k = type.loops; k > 0; --k) type.loop[k] = type.loop[k - 1];
  type.loop[0] = {count, stride};
  ++type.loops;
  return true;
}

// Frees a loop: the innermost one is written out as pieces of the block.
bool Layout::fold_innermost() {
  const Loop loop = type.loop[type.loops - 1];
  const Piece whole = {0, type.block, 0};
  const Piece* old = type.pieces ? type.pieces : &whole;
  const int64_t old_count = type.pieces ? type.piece_count : 1;
  int64_t bytes = 0;
  if (!multiply(loop.count, old_count, bytes) || !multiply(bytes, sizeof(Piece), bytes)) return false;
  auto* pieces = static_cast<Piece*>(std::malloc(static_cast<size_t>(bytes)));
  if (!pieces) return false;
  int64_t used = 0;
  for (int64_t i = 0; i < loop.count; ++i) {
    for (int64_t j = 0; j < old_count; ++j) {
      const int64_t offset = i * loop.stride + old[j].offset;
      if (used > 0 && pieces[used - 1].offset + pieces[used - 1].bytes == offset) {
        pieces[used - 1].bytes += old[j].bytes;
      } else {
        pieces[used++] = {offset, old[j].bytes, i * type.block + old[j].packed};
      }
    }
  }
  drop_pieces();
  type.pieces = pieces;
  type.piece_count = used;
  type.block *= loop.count;
  --type.loops;
  return true;
}

// The object; it takes the pieces along.
Type* Layout::finish() {
  if (type.pieces && type.pieces == borrowed) {
    const size_t bytes = static_cast<size_t>(type.piece_count) * sizeof(Piece);
    auto* own = static_cast<Piece*>(std::malloc(bytes));
    if (!own) return nullptr;
    std::memcpy(own, type.pieces, bytes);
    type.pieces = own;
  }
  type.contiguous = type.size == type.extent && type.lower_bound == 0 && type.true_lower_bound == 0 &&
                    type.true_extent == type.size && type.loops == 0 && !type.pieces;
  Type* object = base::make_object<Type>(type);
  if (object) type.pieces = borrowed;  // given away
  return object;
}

}  // namespace

Type* contiguous(int64_t count, const Type& old) {
  return vector(1, count, 0, old);
}

Type* vector(int64_t count, int64_t block_length, int64_t stride_bytes, const Type& old) {
  if (count < 0 || block_length < 0) return nullptr;
  Layout layout(old);
  // An empty typemap stays empty; one that is empty but resized keeps its bounds, so copies of it take room.
  if (count == 0 || block_length == 0 || (old.size == 0 && old.extent == 0)) {
    layout.clear();
    return layout.finish();
  }
  if (!layout.repeat(block_length, old.extent) || !layout.repeat(count, stride_bytes)) return nullptr;
  return layout.finish();
}

Type* resized(const Type& old, int64_t lower_bound, int64_t extent) {
  Layout layout(old);
  layout.type.lower_bound = lower_bound;
  layout.type.extent = extent;
  return layout.finish();
}

Type* duplicate(const Type& old) {
  Layout layout(old);
  layout.type.committed = old.committed;
  return layout.finish();
}

void destroy(Type* type) {
  if (!type->predefined) std::free(const_cast<Piece*>(type->pieces));
  base::destroy_object(type);
}

int64_t basics_in(const Type& type, int64_t bytes) {
  if (bytes == 0) return 0;
  const BasicSize basic = basic_size(type.basic);
  if (basic.first == 0) return -1;
  const int64_t whole = bytes / (basic.first + basic.second);
  const int64_t rest = bytes % (basic.first + basic.second);
  if (basic.second == 0) return rest == 0 ? whole : -1;
  if (rest != 0 && rest != basic.first) return -1;
  return 2 * whole + (rest == 0 ? 0 : 1);
}

}  // namespace weft::datatype
