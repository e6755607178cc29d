// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Derived layouts of one part. Each constructor is the old layout repeated, and a repetition adds at most one loop.
#include "datatype/layout.hpp"

#include "datatype/pack.hpp"

namespace weft::datatype {

Layout::Layout(const Type& old) : type(old) {
  hold(type.nest.blocks);
  hold(type.signature);
  type.kind = base::Kind::datatype;
  type.committed = type.plain = false;
  type.predefined = false;
  type.name = "";
  type.owner = nullptr;
}

Layout::~Layout() {
  drop(type.nest.blocks);
  drop(type.signature);
}

bool Layout::repeat(int64_t count, int64_t stride) {
  if (count == 1) return true;
  if (!widen(type.lower_bound, type.extent, count, stride)) return false;
  if (type.size == 0) return true;
  return widen(type.true_lower_bound, type.true_extent, count, stride) && multiply(type.size, count, type.size) &&
         multiply(type.basic_count, count, type.basic_count) && datatype::repeat(type.nest, count, stride);
}

Type* Layout::finish() {
  type.contiguous = type.size == type.extent && type.lower_bound == 0 && type.true_lower_bound == 0 &&
                    type.true_extent == type.size && type.nest.loops == 0 && !type.nest.blocks;
  Type* object = base::make_object<Type>(type);
  if (object) {
    type.nest.blocks = nullptr;
    type.signature = nullptr;
  }
  return object;
}

Type* contiguous(int64_t count, const Type& old) {
  return vector(1, count, 0, old);
}

Type* vector(int64_t count, int64_t block_length, int64_t stride_bytes, const Type& old) {
  if (count < 0 || block_length < 0) return nullptr;
  if (count == 0 || block_length == 0 || is_void(old)) {
    Layout nothing;
    return nothing.finish();
  }
  Layout layout(old);
  if (!layout.repeat(block_length, old.extent) || !layout.repeat(count, stride_bytes)) return nullptr;
  return layout.finish();
}

Type* resized(const Type& old, int64_t lower_bound, int64_t extent) {
  int64_t upper_bound = 0;
  if (!add(lower_bound, extent, upper_bound)) return nullptr;
  Layout layout(old);
  layout.type.lower_bound = lower_bound;
  layout.type.extent = extent;
  layout.type.marked = true;
  return layout.finish();
}

Type* duplicate(const Type& old) {
  Layout layout(old);
  layout.type.committed = old.committed;
  layout.type.plain = old.plain;
  return layout.finish();
}

void destroy(Type* type) {
  drop(type->nest.blocks);
  drop(type->signature);
  base::destroy_object(type);
}

}  // namespace weft::datatype
