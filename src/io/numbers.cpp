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

}  // namespace

const coll::Reducer& smaller_number() {
  static const coll::Reducer* const made = [] {
    datatype::Type* word = datatype::contiguous(sizeof(int64_t), datatype::byte_type);
    if (word != nullptr) word->committed = true;
    return new coll::Reducer{.function = take_smaller, .type = word};
  }();
  return *made;
}

}  // namespace weft::io
