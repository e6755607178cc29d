// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/coll.hpp"
#include "coll/exchange.hpp"
#include "coll/scratch.hpp"

namespace weft::coll {

namespace {

// In step i we receive from the rank i below and send to the rank i above, so no rank is everybody's first target.
int32_t pairwise(Comm& comm, const Blocks& from, const Blocks& to) {
  Channel channel(comm, Tag::alltoall);
  for (int32_t step = 1; step < comm.size; ++step) {
    const int32_t source = (comm.rank + comm.size - step) % comm.size;
    const int32_t target = (comm.rank + step) % comm.size;
    const Block in = to[source];
    const Block out = from[target];
    if (in.bytes() > 0) channel.start_receive(in, source);
    if (out.bytes() > 0) channel.start_send(out, target);
  }
  channel.note_error(copy_block(from[comm.rank], to[comm.rank]));
  return channel.finish();
}

// In place: what we send is packed aside first. Counts and types of both directions are the same for a pair of ranks.
int32_t in_place(Comm& comm, const Blocks& blocks) {
  int64_t total = 0;
  for (int32_t r = 0; r < comm.size; ++r) total += blocks[r].bytes();
  Scratch memory, first, second;
  const int64_t array_bytes = comm.size * static_cast<int64_t>(sizeof(int64_t));
  auto* packed = static_cast<unsigned char*>(memory.bytes(total));
  auto* counts = static_cast<int64_t*>(first.bytes(array_bytes));
  auto* starts = static_cast<int64_t*>(second.bytes(array_bytes));
  if (packed == nullptr || counts == nullptr || starts == nullptr) return core::no_memory;
  int64_t start = 0;
  for (int32_t r = 0; r < comm.size; ++r) {
    const Block block = blocks[r];
    counts[r] = block.bytes();
    starts[r] = start;
    datatype::pack(*block.type, block.count, block.data, 0, packed + start, counts[r]);
    start += counts[r];
  }
  return pairwise(comm, Blocks(packed, Array(counts), Array(starts), byte_type), blocks);
}

}  // namespace

int32_t alltoall(Comm& comm, const Blocks& from, const Blocks& to) {
  return from.in_place() ? in_place(comm, to) : pairwise(comm, from, to);
}

}  // namespace weft::coll
