// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "coll/coll.hpp"
#include "coll/exchange.hpp"
#include "coll/scratch.hpp"

namespace weft::coll {

namespace {

// Two buffers that change roles: what we have, and what comes in.
struct Partial {
  Channel& channel;
  const Reducer& reducer;
  int64_t count;
  void* mine;
  void* spare;

  // Takes in a partial result of ranks that stand directly below or above ours, so that the order of ranks is kept and
  // all ranks compute bitwise the same.
  void combine(bool from_below) {
    if (from_below) return reducer.apply(spare, mine, count);
    reducer.apply(mine, spare, count);
    std::swap(mine, spare);
  }
  void receive(int32_t from) { channel.receive(spare, count, *reducer.type, from); }
  void send(int32_t to) { channel.send(mine, count, *reducer.type, to); }
  void swap_with(int32_t partner) {
    channel.swap(mine, count, *reducer.type, partner, spare, count, *reducer.type, partner);
  }
};

// Rank 0 takes the others' data in the order of ranks and sends all of them the result.
void flat(Comm& comm, Partial& partial) {
  if (comm.rank != 0) {
    partial.send(0);
    std::swap(partial.mine, partial.spare);
    partial.receive(0);
    std::swap(partial.mine, partial.spare);
    return;
  }
  for (int32_t r = 1; r < comm.size; ++r) {
    partial.receive(r);
    partial.combine(false);
  }
  const Block result{partial.mine, partial.count, partial.reducer.type};
  for (int32_t r = 1; r < comm.size; ++r) partial.channel.start_send(result, r);
  (void)partial.channel.finish();
}

// Where ranks share processors: up to so many ranks and bytes, flat() beats recursive doubling.
constexpr int32_t flat_ranks = 32;
constexpr int64_t flat_bytes = 4096;

// Recursive doubling. Ranks beyond a power of two fold into their odd neighbours first and get the result last.
void recursive_doubling(Comm& comm, Partial& partial) {
  int32_t power = 1;
  while (power <= comm.size / 2) power *= 2;
  const int32_t folded = comm.size - power;  // pairs (2i, 2i + 1) for i below this
  const int32_t rank = comm.rank;
  if (rank < 2 * folded) {
    if (rank % 2 == 0) {
      partial.send(rank + 1);
      std::swap(partial.mine, partial.spare);
      partial.receive(rank + 1);
      std::swap(partial.mine, partial.spare);
      return;
    }
    partial.receive(rank - 1);
    partial.combine(true);
  }
  const int32_t place = rank < 2 * folded ? rank / 2 : rank - folded;
  for (int32_t bit = 1; bit < power; bit *= 2) {
    const int32_t other = place ^ bit;
    partial.swap_with(other < folded ? 2 * other + 1 : other + folded);
    partial.combine(other < place);
  }
  if (rank < 2 * folded) partial.send(rank - 1);
}

}  // namespace

int32_t allreduce(Comm& comm, const void* send, void* receive, int64_t count, const Reducer& reducer) {
  Type& type = *reducer.type;
  if (send != receive) copy_elements(type, count, send, receive);
  if (comm.size == 1 || count * type.size == 0) return core::no_error;
  Scratch scratch;
  void* spare = scratch.elements(type, count);
  if (spare == nullptr) return core::no_memory;
  Channel channel(comm, Tag::allreduce);
  Partial partial{channel, reducer, count, receive, spare};
  if (crowded() && comm.size <= flat_ranks && count * type.size <= flat_bytes) {
    flat(comm, partial);
  } else {
    recursive_doubling(comm, partial);
  }
  if (partial.mine != receive) copy_elements(type, count, partial.mine, receive);
  return channel.error();
}

}  // namespace weft::coll
