// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "coll/coll.hpp"
#include "coll/exchange.hpp"
#include "coll/scratch.hpp"

namespace weft::coll {

namespace {

// A binomial tree over the ranks turned so that `top` is 0. A rank's partial result always covers consecutive turned
// ranks and is the left operand of what its children send, so with top == 0 the order of ranks is kept. The result is
// in *result at `top`, which is one of the two buffers.
void reduce_tree(Channel& channel, Comm& comm, int64_t count, const Reducer& reducer, int32_t top, void** result,
                 void* spare) {
  const int64_t size = comm.size;
  const int64_t turned = (comm.rank - top + size) % size;
  for (int64_t bit = 1; bit < size; bit *= 2) {
    if ((turned & bit) != 0) {
      channel.send(*result, count, *reducer.type, static_cast<int32_t>((turned - bit + top) % size));
      return;
    }
    if (turned + bit >= size) continue;
    channel.receive(spare, count, *reducer.type, static_cast<int32_t>((turned + bit + top) % size));
    reducer.apply(*result, spare, count);
    std::swap(*result, spare);
  }
}

}  // namespace

int32_t reduce(Comm& comm, const void* send, void* receive, int64_t count, const Reducer& reducer, int32_t root) {
  Type& type = *reducer.type;
  const bool is_root = comm.rank == root;
  if (comm.size == 1 || count * type.size == 0) {
    if (is_root && send != receive) copy_elements(type, count, send, receive);
    return core::no_error;
  }
  Scratch first, second;
  void* mine = is_root ? receive : first.elements(type, count);
  void* spare = second.elements(type, count);
  if (spare == nullptr || (!is_root && mine == nullptr)) return core::no_memory;
  if (send != mine) copy_elements(type, count, send, mine);
  Channel channel(comm, Tag::reduce);
  const int32_t top = reducer.commutative ? root : 0;
  void* result = mine;
  reduce_tree(channel, comm, count, reducer, top, &result, spare);
  if (top != root && comm.rank == top) channel.send(result, count, type, root);
  if (is_root) {
    if (top != root) {
      channel.receive(receive, count, type, top);
    } else if (result != receive) {
      copy_elements(type, count, result, receive);
    }
  }
  return channel.error();
}

// Reduced at rank 0 in the order of ranks, then handed out.
int32_t reduce_scatter(Comm& comm, const void* send, void* receive, const Array& counts, const Reducer& reducer) {
  Type& type = *reducer.type;
  int64_t total = 0;
  for (int32_t r = 0; r < comm.size; ++r) total += counts[r];
  Scratch memory, places;
  auto* starts = static_cast<int64_t*>(places.bytes(comm.size * static_cast<int64_t>(sizeof(int64_t))));
  void* result = comm.rank == 0 ? memory.elements(type, total) : nullptr;
  if (starts == nullptr || (comm.rank == 0 && result == nullptr)) return core::no_memory;
  int64_t start = 0;
  for (int32_t r = 0; r < comm.size; ++r) {
    starts[r] = start;
    start += counts[r];
  }
  int32_t error = reduce(comm, send, result, total, reducer, 0);
  const Blocks all(result, counts, Array(starts), type);
  note(error, scatter(comm, all, Block{receive, counts[comm.rank], &type}, 0));
  return error;
}

}  // namespace weft::coll
