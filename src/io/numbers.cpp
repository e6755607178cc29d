// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/numbers.hpp"

#include "datatype/pack.hpp"

namespace weft::io {
namespace {

void take_smaller(const coll::Reducer& /*self*/, const void* in, void* inout, int64_t count) {
  const auto* a = static_cast<const int64_t*>(in);
  auto* b = static_cast<int64_t*>(inout);
  for (int64_t i = 0; i < count; ++i) {
    if (a[i] < b[i]) b[i] = a[i];
  }
}

void add(const coll::Reducer& /*self*/, const void* in, void* inout, int64_t count) {
  const auto* a = static_cast<const int64_t*>(in);
  auto* b = static_cast<int64_t*>(inout);
  for (int64_t i = 0; i < count; ++i) b[i] += a[i];
}

// Never destroyed: other threads may be at it when the process ends.
template <class Function>
coll::Reducer* make(Function* function) {
  datatype::Type* word = datatype::contiguous(sizeof(int64_t), datatype::byte_type);
  if (word != nullptr) word->committed = true;
  return new coll::Reducer{.function = function, .type = word};
}

}  // namespace

const coll::Reducer& smaller_number() {
  static const coll::Reducer* const made = make(take_smaller);
  return *made;
}

const coll::Reducer& sum_of_numbers() {
  static const coll::Reducer* const made = make(add);
  return *made;
}

}  // namespace weft::io
