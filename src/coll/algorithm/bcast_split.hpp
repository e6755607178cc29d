// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A broadcast of much data: scattered along a binomial tree, then gathered by all round a ring (van de Geijn). A rank
// sends and receives about the data once, where in a tree the root sends them log2(size) times. On several hosts the
// ring goes host by host, so that data cross to each other host once.

#include <algorithm>

#include "coll/plan/channel.hpp"
#include "coll/plan/plan.hpp"
#include "coll/plan/team.hpp"

namespace weft::coll::plan {

// At least as many bytes as ranks. Ranks may describe the data by different types, so the parts are bytes; data with
// gaps are packed.
template <class Way>
void bcast_split(Way& way, const Block& data, int32_t root) {
  const Comm& comm = way.comm();
  const Team ranks = host_by_host(comm);
  const int64_t size = ranks.size;
  const int64_t bytes = data.bytes();
  const bool packs = !data.type->contiguous;
  auto* memory = static_cast<unsigned char*>(packs ? way.bytes(bytes) : data.data);
  if (memory == nullptr) return;
  const Block whole{memory, bytes, &byte_type};
  if (packs && comm.rank == root) way.copy(data, whole);

  // Places are turned so that the root's is 0. A place without its lowest bit is above it in the tree; below a place,
  // and with it its number of scattered parts, are as many as that bit says.
  const int64_t top =
      comm.hosts == nullptr ? root : comm.hosts->start(comm.hosts->host_of(root)) + comm.hosts->place_of(root);
  const int64_t turned = (ranks.place - top + size) % size;
  auto rank_at = [&](int64_t place) { return ranks[static_cast<int32_t>((place + top) % size)]; };
  auto held = [size](int64_t place) { return place == 0 ? size : std::min(place & -place, size - place); };
  auto parts = [&](int64_t first, int64_t n) {
    const int64_t begin = bytes / size * first + std::min(first, bytes % size);
    const int64_t end = bytes / size * (first + n) + std::min(first + n, bytes % size);
    return Block{memory + begin, end - begin, &byte_type};
  };
  int64_t bit = 1;
  while (bit < size && (turned & bit) == 0) bit *= 2;
  if (turned != 0) {
    way.receive(parts(turned, held(turned)), rank_at(turned - bit));
    way.fence();
  }
  for (bit /= 2; bit > 0; bit /= 2) {
    if (turned + bit < size) way.send(parts(turned + bit, held(turned + bit)), rank_at(turned + bit));
  }

  // In each step a place hands on the part it got in the step before; no place gets a part that it holds already.
  auto lacks = [&](int64_t place, int64_t part) { return part < place || part >= place + held(place); };
  const int64_t next = (turned + 1) % size;
  for (int64_t step = 1; step < size; ++step) {
    const int64_t in = (turned + size - step) % size;
    const int64_t out = (turned + size - step + 1) % size;
    if (lacks(turned, in)) way.receive(parts(in, 1), rank_at(turned + size - 1));
    if (lacks(next, out)) way.send(parts(out, 1), rank_at(next));
    way.fence();
  }
  if (packs && comm.rank != root) way.copy(whole, data);
}

}  // namespace weft::coll::plan
