// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/channel.hpp"
#include "coll/coll.hpp"
#include "coll/plan.hpp"
#include "coll/schedule.hpp"

namespace weft::coll {

namespace plan {

namespace {

// Round the ring: in each step a rank hands on the block it got in the step before.
template <class Way>
void ring(Way& way, const Blocks& all) {
  const Comm& comm = way.comm();
  const int32_t size = comm.size;
  const int32_t to = (comm.rank + 1) % size;
  const int32_t from = (comm.rank + size - 1) % size;
  for (int32_t step = 1; step < size; ++step) {
    way.receive(all[(comm.rank + size - step) % size], from);
    way.send(all[(comm.rank + size - step + 1) % size], to);
    way.fence();
  }
}

// Bruck's algorithm on packed blocks: the blocks of ranks rank, rank + 1, ... gather in `packed`, twice as many in each
// of the log2(size) steps.
template <class Way>
void bruck(Way& way, const Blocks& all, int64_t block_bytes) {
  const Comm& comm = way.comm();
  auto* packed = static_cast<unsigned char*>(way.bytes(block_bytes * comm.size));
  if (packed == nullptr) return;
  auto part = [&](int32_t first, int32_t blocks) {
    return Block{packed + first * block_bytes, blocks * block_bytes, &byte_type};
  };
  way.copy(all[comm.rank], part(0, 1));
  for (int32_t have = 1; have < comm.size;) {
    const int32_t more = have <= comm.size - have ? have : comm.size - have;
    way.receive(part(have, more), (comm.rank + have) % comm.size);
    way.send(part(0, more), (comm.rank + comm.size - have) % comm.size);
    way.fence();
    have += more;
  }
  for (int32_t i = 1; i < comm.size; ++i) way.copy(part(i, 1), all[(comm.rank + i) % comm.size]);
}

// Up to this many bytes in all, steps cost more than copies.
constexpr int64_t bruck_limit = 16 * 1024;

}  // namespace

template <class Way>
void allgather(Way& way, const Block& mine, const Blocks& all) {
  const Comm& comm = way.comm();
  if (!mine.in_place()) way.copy(mine, all[comm.rank]);
  if (comm.size == 1) return;
  const int64_t block_bytes = all.regular() ? all[0].bytes() : 0;
  if (!all.regular() || block_bytes * comm.size > bruck_limit) {
    ring(way, all);
  } else if (block_bytes > 0) {
    bruck(way, all, block_bytes);
  }
}

template void allgather(Schedule& way, const Block& mine, const Blocks& all);

}  // namespace plan

int32_t allgather(Comm& comm, const Block& mine, const Blocks& all) {
  Channel channel(comm, Tag::allgather);
  plan::allgather(channel, mine, all);
  return channel.finish();
}

}  // namespace weft::coll
