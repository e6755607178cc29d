// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Derived layouts of several parts, and parts of arrays.
#include <algorithm>

#include "datatype/layout.hpp"
#include "datatype/pack.hpp"

namespace weft::datatype {
namespace {

// Bounds that grow around each added part.
struct GrowingBounds {
  int64_t lower = INT64_MAX;
  int64_t upper = INT64_MIN;

  [[nodiscard]] bool empty() const { return lower == INT64_MAX && upper == INT64_MIN; }
  // `count` copies of [lower, lower + extent), `stride` apart and shifted by `offset`. The extent may be negative.
  [[nodiscard]] bool add_copies(int64_t offset, int64_t low, int64_t extent, int64_t count, int64_t stride) {
    int64_t high = 0;
    if (!widen(low, extent, count, stride) || !add(low, offset, low) || !add(low, extent, high)) return false;
    lower = std::min(lower, low);
    upper = std::max(upper, high);
    return true;
  }
  [[nodiscard]] bool put(int64_t& low, int64_t& extent) const {
    low = lower;
    return !__builtin_sub_overflow(upper, lower, &extent);
  }
};

// A structure under construction.
class Structure {
 public:
  [[nodiscard]] bool add_part(const Part& part);
  [[nodiscard]] Type* finish();

 private:
  bool find_bounds();

  Layout layout_;
  BlockList blocks_;
  SignatureList signature_;
  GrowingBounds unmarked_;
  GrowingBounds marked_;
  GrowingBounds data_;
  const Type* alike_ = nullptr;  // the type of all parts so far
  bool mixed_ = false;           // they have several
};

bool Structure::add_part(const Part& part) {
  const Type& type = *part.type;
  if (part.count < 0) return false;
  if (part.count == 0 || is_void(type)) return true;
  mixed_ = mixed_ || (alike_ && alike_ != &type);
  alike_ = &type;
  GrowingBounds& span = type.marked ? marked_ : unmarked_;
  if (!span.add_copies(part.offset, type.lower_bound, type.extent, part.count, type.extent)) return false;
  if (type.size == 0) return true;
  Type& whole = layout_.type;
  int64_t bytes = 0;
  int64_t basics = 0;
  int64_t at = 0;
  whole.alignment = std::max(whole.alignment, type.alignment);
  return data_.add_copies(part.offset, type.true_lower_bound, type.true_extent, part.count, type.extent) &&
         multiply(type.size, part.count, bytes) && add(whole.size, bytes, whole.size) &&
         multiply(type.basic_count, part.count, basics) && add(whole.basic_count, basics, whole.basic_count) &&
         add(part.offset, type.first, at) && blocks_.add_nest(at, type.nest, part.count, type.extent, bytes) &&
         signature_.add(type, part.count);
}

// MPI-5.0, 5.1.6, rules: bounds that were set count alone when there are any; otherwise a struct ends at its alignment,
// as a C compiler's does. An array of equal elements needs no padding.
bool Structure::find_bounds() {
  Type& whole = layout_.type;
  whole.marked = !marked_.empty();
  const GrowingBounds& span = whole.marked ? marked_ : unmarked_;
  if (span.empty()) return true;
  if (!span.put(whole.lower_bound, whole.extent)) return false;
  if (!data_.empty() && !data_.put(whole.true_lower_bound, whole.true_extent)) return false;
  if (whole.marked || !mixed_) return true;
  const int64_t beyond = whole.extent % whole.alignment;
  return beyond == 0 || add(whole.extent, whole.alignment - beyond, whole.extent);
}

Type* Structure::finish() {
  Type& whole = layout_.type;
  if (!find_bounds() || !blocks_.finish(whole.nest, whole.first)) return nullptr;
  if (!signature_.uniform(whole.basic)) {
    whole.signature = signature_.finish();
    if (!whole.signature) return nullptr;
  }
  return layout_.finish();
}

}  // namespace

Type* structure(const Part* parts, int64_t count) {
  if (count < 0) return nullptr;
  Structure made;
  for (int64_t i = 0; i < count; ++i) {
    if (!made.add_part(parts[i])) return nullptr;
  }
  return made.finish();
}

Type* subarray(int dims, const int64_t* sizes, const int64_t* subsizes, const int64_t* starts, bool fortran_order,
               const Type& old) {
  Layout layout(old);
  Type& type = layout.type;
  int64_t stride = old.extent;
  int64_t offset = 0;
  for (int i = 0; i < dims; ++i) {
    const int dim = fortran_order ? i : dims - 1 - i;  // from the one whose elements are neighbours
    int64_t skipped = 0;
    if (sizes[dim] < 0 || subsizes[dim] < 0 || !multiply(starts[dim], stride, skipped) ||
        !add(offset, skipped, offset)) {
      return nullptr;
    }
    if (subsizes[dim] == 0) {
      drop(type.nest.blocks);
      drop(type.signature);
      type = Layout().type;
    } else if (!layout.repeat(subsizes[dim], stride)) {
      return nullptr;
    }
    if (!multiply(stride, sizes[dim], stride)) return nullptr;
  }
  if (type.size > 0 &&
      (!add(type.first, offset, type.first) || !add(type.true_lower_bound, offset, type.true_lower_bound))) {
    return nullptr;
  }
  type.lower_bound = 0;
  type.extent = stride;
  type.marked = true;
  return layout.finish();
}

}  // namespace weft::datatype
