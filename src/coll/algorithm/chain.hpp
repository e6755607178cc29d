// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Large data from rank to rank, in pieces: while a rank hands on a piece, the next one comes. After the first piece has
// gone through all ranks, data move at the speed of one message.

#include <algorithm>

#include "coll/plan/channel.hpp"
#include "coll/plan/plan.hpp"
#include "coll/plan/team.hpp"

namespace weft::coll::plan {

inline constexpr int64_t chain_piece = 64 * 1024;  // bytes

// A rank that receives nothing has so many sends under way at a time.
template <class Way>
void fence_first(Way& way, int64_t piece) {
  constexpr int64_t most_at_once = 16;
  if (piece % most_at_once == most_at_once - 1) way.fence();
}

// From the root on, host by host, so that data cross to each other host once. Data with gaps are packed.
template <class Way>
void bcast_chain(Way& way, const Block& data, int32_t root) {
  const Comm& comm = way.comm();
  const Team ranks = host_by_host(comm);
  const int32_t top = place_of(comm, root);
  const int32_t turned = (ranks.place - top + ranks.size) % ranks.size;
  const int64_t bytes = data.bytes();
  const bool packs = !data.type->contiguous;
  auto* memory = static_cast<unsigned char*>(packs ? way.bytes(bytes) : data.data);
  if (memory == nullptr) return;
  const Block whole{memory, bytes, &byte_type};
  if (packs && turned == 0) way.copy(data, whole);
  for (int64_t at = 0; at < bytes; at += chain_piece) {
    const Block piece{memory + at, std::min(chain_piece, bytes - at), &byte_type};
    if (turned > 0) {
      way.receive(piece, ranks[(ranks.place + ranks.size - 1) % ranks.size]);
      way.fence();
    }
    if (turned + 1 < ranks.size) way.send(piece, ranks[(ranks.place + 1) % ranks.size]);
    if (turned == 0) fence_first(way, at / chain_piece);
  }
  if (packs && turned > 0) way.copy(whole, data);
}

// Each rank adds its data to what the ranks below it have, in the order of ranks, and hands the sum on.
template <class Way>
void scan_chain(Way& way, const void* send, void* receive, int64_t count, const Reducer& reducer, bool inclusive) {
  const Comm& comm = way.comm();
  const Type& type = *reducer.type;
  const bool first = comm.rank == 0;
  const bool last = comm.rank == comm.size - 1;
  const int64_t each = std::max<int64_t>(1, chain_piece / type.size);
  const auto part = [&](const void* data, int64_t at, int64_t n) {
    return elements_at(static_cast<const char*>(data) + at * type.extent, n, reducer);
  };
  // The sum with our data: the result of a scan; an exscan needs it for the next rank alone.
  void* sum = receive;
  if (!inclusive) {
    sum = way.elements(type, count);
    if (sum == nullptr) return;
  }
  if (sum != send) way.copy(part(send, 0, count), part(sum, 0, count));
  void* below = receive;
  if (inclusive && !first) {
    below = way.elements(type, count);
    if (below == nullptr) return;
  }
  for (int64_t at = 0; at < count; at += each) {
    const int64_t n = std::min(each, count - at);
    if (!first) {
      way.receive(part(below, at, n), comm.rank - 1);
      way.fence();
      if (inclusive || !last) way.reduce(reducer, part(below, at, n).data, part(sum, at, n).data, n);
    }
    if (!last) way.send(part(sum, at, n), comm.rank + 1);
    if (first) fence_first(way, at / each);
  }
}

}  // namespace weft::coll::plan
