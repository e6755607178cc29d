// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "coll/coll.hpp"
#include "coll/exchange.hpp"
#include "coll/scratch.hpp"

namespace weft::coll {

namespace {

// Recursive doubling: `partial` covers the ranks of our subcube so far, and what comes from below it goes to the
// result.
int32_t prefix(Comm& comm, const void* send, void* receive, int64_t count, const Reducer& reducer, bool inclusive) {
  Type& type = *reducer.type;
  Scratch first, second;
  void* partial = first.elements(type, count);
  void* spare = second.elements(type, count);
  if (partial == nullptr || spare == nullptr) return core::no_memory;
  copy_elements(type, count, send, partial);
  if (inclusive && send != receive) copy_elements(type, count, send, receive);
  bool has_result = inclusive;
  Channel channel(comm, inclusive ? Tag::scan : Tag::exscan);
  for (int64_t bit = 1; bit < comm.size; bit *= 2) {
    const int64_t partner = comm.rank ^ bit;
    if (partner >= comm.size) continue;
    const auto other = static_cast<int32_t>(partner);
    channel.swap(partial, count, type, other, spare, count, type, other);
    if (other > comm.rank) {
      reducer.apply(partial, spare, count);
      std::swap(partial, spare);
      continue;
    }
    reducer.apply(spare, partial, count);
    if (has_result) {
      reducer.apply(spare, receive, count);
    } else {
      copy_elements(type, count, spare, receive);
      has_result = true;
    }
  }
  return channel.error();
}

}  // namespace

int32_t scan(Comm& comm, const void* send, void* receive, int64_t count, const Reducer& reducer) {
  if (count * reducer.type->size == 0) return core::no_error;
  return prefix(comm, send, receive, count, reducer, true);
}

int32_t exscan(Comm& comm, const void* send, void* receive, int64_t count, const Reducer& reducer) {
  if (count * reducer.type->size == 0) return core::no_error;
  return prefix(comm, send, receive, count, reducer, false);
}

}  // namespace weft::coll
