// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "coll/coll.hpp"
#include "coll/exchange.hpp"
#include "coll/scratch.hpp"

namespace weft::coll {

namespace {

// Round the ring: in each step a rank hands on the block it got in the step before.
int32_t ring(Comm& comm, const Blocks& all) {
  Channel channel(comm, Tag::allgather);
  const int32_t size = comm.size;
  const int32_t to = (comm.rank + 1) % size;
  const int32_t from = (comm.rank + size - 1) % size;
  for (int32_t step = 1; step < size; ++step) {
    const Block out = all[(comm.rank + size - step + 1) % size];
    const Block in = all[(comm.rank + size - step) % size];
    channel.swap(out.data, out.count, *out.type, to, in.data, in.count, *in.type, from);
  }
  return channel.error();
}

// Bruck's algorithm on packed blocks: the blocks of ranks rank, rank + 1, ... gather in `packed`, twice as many in each
// of the log2(size) steps.
int32_t bruck(Comm& comm, const Blocks& all, int64_t block_bytes) {
  Channel channel(comm, Tag::allgather);
  Scratch scratch;
  auto* packed = static_cast<unsigned char*>(scratch.bytes(block_bytes * comm.size));
  if (packed == nullptr) return core::no_memory;
  const Block own = all[comm.rank];
  datatype::pack(*own.type, own.count, own.data, 0, packed, block_bytes);
  for (int32_t have = 1; have < comm.size;) {
    const int32_t more = have <= comm.size - have ? have : comm.size - have;
    const int32_t to = (comm.rank + comm.size - have) % comm.size;
    const int32_t from = (comm.rank + have) % comm.size;
    channel.swap(packed, more * block_bytes, byte_type, to, packed + have * block_bytes, more * block_bytes, byte_type,
                 from);
    have += more;
  }
  for (int32_t i = 1; i < comm.size; ++i) {
    const Block block = all[(comm.rank + i) % comm.size];
    datatype::unpack(*block.type, block.count, block.data, 0, packed + i * block_bytes, block_bytes);
  }
  return channel.error();
}

// Up to this many bytes in all, steps cost more than copies.
constexpr int64_t bruck_limit = 16 * 1024;

}  // namespace

int32_t allgather(Comm& comm, const Block& mine, const Blocks& all) {
  int32_t error = mine.in_place() ? core::no_error : copy_block(mine, all[comm.rank]);
  if (comm.size == 1) return error;
  if (all.regular()) {
    const int64_t block_bytes = all[0].bytes();
    if (block_bytes == 0) return error;
    note(error, block_bytes * comm.size <= bruck_limit ? bruck(comm, all, block_bytes) : ring(comm, all));
  } else {
    note(error, ring(comm, all));
  }
  return error;
}

}  // namespace weft::coll
