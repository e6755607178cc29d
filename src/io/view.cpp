// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/view.hpp"

#include <algorithm>

#include "datatype/blocks.hpp"
#include "datatype/runs.hpp"

namespace weft::io {

using datatype::BlockTable;
using datatype::Nest;

// list_runs() writes addresses, which are offsets here.
static_assert(sizeof(Run) == sizeof(iovec) && sizeof(void*) == sizeof(int64_t));

namespace {

// Copies of the filetype that hold the stream's bytes up to `end`.
int64_t copies_for(const Type& filetype, int64_t end) {
  return (end + filetype.size - 1) / filetype.size;
}

}  // namespace

bool View::reaches(int64_t position, int64_t bytes) const {
  int64_t end = 0;
  if (position < 0 || bytes < 0 || __builtin_add_overflow(position, bytes, &end)) return false;
  if (filetype->size == 0) return true;
  if (end > INT64_MAX - filetype->size) return false;
  int64_t span = 0;
  int64_t last = 0;
  if (__builtin_mul_overflow(copies_for(*filetype, end), filetype->extent, &span)) return false;
  const int64_t margin = filetype->true_lower_bound + filetype->true_extent;
  return !__builtin_add_overflow(displacement, span, &last) && !__builtin_add_overflow(last, margin, &last);
}

int View::list(int64_t position, int64_t bytes, Run* runs, int room, int64_t& covered) const {
  covered = 0;
  if (bytes <= 0 || filetype->size == 0) return 0;
  if (is_contiguous()) {
    runs[0] = {displacement + position, bytes};
    covered = bytes;
    return 1;
  }
  // The whole copies of the filetype before the position are left out, so that no product grows with the position.
  const int64_t first = position / filetype->size;
  const int64_t inside = position - first * filetype->size;
  const auto* origin = reinterpret_cast<const void*>(displacement + first * filetype->extent);
  constexpr int most = 256;
  iovec pieces[most];
  const datatype::Runs listed = datatype::list_runs(*filetype, copies_for(*filetype, inside + bytes), origin, inside,
                                                    bytes, pieces, std::min(room, most));
  for (int i = 0; i < listed.count; ++i) {
    runs[i] = {reinterpret_cast<int64_t>(pieces[i].iov_base), static_cast<int64_t>(pieces[i].iov_len)};
  }
  covered = listed.bytes;
  return listed.count;
}

int64_t View::offset_of(int64_t position) const {
  Run run{};
  int64_t covered = 0;
  return list(position, 1, &run, 1, covered) == 1 ? run.offset : displacement;
}

int64_t View::position_at(int64_t offset) const {
  if (filetype->size == 0 || offset <= displacement) return 0;
  if (is_contiguous()) return offset - displacement;
  // Copies before this one end at or below `offset`, or begin above it.
  const int64_t from = offset - displacement - filetype->true_lower_bound - filetype->true_extent;
  int64_t low = filetype->extent > 0 && from > 0 ? from / filetype->extent * filetype->size : 0;
  int64_t high = low + 2 * filetype->size;
  if (filetype->extent <= 0) return low;
  while (offset_of(high) < offset) {
    low = high;
    high += 2 * filetype->size;
  }
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (offset_of(middle) < offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

namespace {

// The bytes that data touch, relative to where they begin.
struct Touched {
  int64_t low = 0;
  int64_t high = 0;
};

Touched look_at(const Nest& nest, Order& order);

Touched look_at(const BlockTable& blocks, Order& order) {
  Touched all{INT64_MAX, INT64_MIN};
  const Touched inner =
      blocks.nest_count != 0 && blocks.inside == nullptr ? look_at(blocks.nests[0], order) : Touched{};
  for (int64_t i = 0; i < blocks.count; ++i) {
    const Nest* inside = blocks.nest_of(i);
    const Touched one = inside == nullptr          ? Touched{0, blocks.bytes_of(i)}
                        : blocks.inside == nullptr ? inner
                                                   : look_at(*inside, order);
    const int64_t low = blocks.offset[i] + one.low;
    const int64_t high = blocks.offset[i] + one.high;
    if (i > 0) {
      order.falling |= low < all.low || blocks.offset[i] < blocks.offset[i - 1];
      order.overlaps |= low < all.high;
    }
    all.low = std::min(all.low, low);
    all.high = std::max(all.high, high);
  }
  return all;
}

// Parts that interleave without sharing a byte count as overlapping: their data are not in the order of offsets either.
Touched look_at(const Nest& nest, Order& order) {
  bool plain = nest.blocks == nullptr;  // the repeated part is bytes without a gap
  Touched touched = nest.blocks != nullptr ? look_at(*nest.blocks, order) : Touched{0, nest.block};
  for (int k = nest.loops - 1; k >= 0; --k) {
    const datatype::Loop& loop = nest.loop[k];
    if (loop.count <= 1) continue;
    const int64_t span = (loop.count - 1) * loop.stride;
    const bool inside = loop.stride < touched.high - touched.low;  // each begins before the end of the one before
    order.falling |= loop.stride < 0 || (inside && loop.stride != 0 && !plain);
    order.overlaps |= inside;
    plain = false;
    touched.low += std::min<int64_t>(span, 0);
    touched.high += std::max<int64_t>(span, 0);
  }
  return touched;
}

}  // namespace

Order order_of(const Type& type) {
  Order order;
  if (type.size == 0) return order;
  (void)look_at(type.nest, order);
  order.negative = type.true_lower_bound < 0;
  return order;
}

}  // namespace weft::io
