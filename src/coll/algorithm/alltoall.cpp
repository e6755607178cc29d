// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <type_traits>

#include "coll/algorithm/alltoall_bruck.hpp"
#include "coll/coll.hpp"
#include "coll/plan/channel.hpp"
#include "coll/plan/plan.hpp"
#include "coll/plan/schedule.hpp"
#include "coll/select/select.hpp"
#include "coll/shm/peer_copy.hpp"
#include "coll/shm/shm_blocking.hpp"
#include "coll/shm/shm_nonblocking.hpp"

namespace weft::coll {

namespace plan {

namespace {

// In step i we receive from the rank i below and send to the rank i above, so no rank is everybody's first target. With
// very many ranks, some at a time: a rank has at most so many requests under way each way.
template <class Way>
void pairwise(Way& way, const Blocks& from, const Blocks& to) {
  constexpr int32_t most_at_once = 256;
  const bool empty_too = shm_nonblocking::sends_empty(way);
  const Comm& comm = way.comm();
  for (int32_t step = 1; step < comm.size; ++step) {
    const int32_t source = (comm.rank + comm.size - step) % comm.size;
    const int32_t target = (comm.rank + step) % comm.size;
    const Block in = to[source];
    const Block out = from[target];
    if (in.bytes() > 0 || empty_too) way.receive(in, source);
    if (out.bytes() > 0 || empty_too) way.send(out, target);
    if (step % most_at_once == 0) way.fence();
  }
  way.copy(from[comm.rank], to[comm.rank]);
}

// In place: the data to send are packed aside first. Counts and types of both directions are the same for a pair of
// ranks.
template <class Way>
void in_place(Way& way, const Blocks& blocks) {
  const int32_t size = way.comm().size;
  int64_t total = 0;
  for (int32_t r = 0; r < size; ++r) total += blocks[r].bytes();
  const int64_t array_bytes = size * static_cast<int64_t>(sizeof(int64_t));
  auto* packed = static_cast<unsigned char*>(way.bytes(total));
  auto* counts = static_cast<int64_t*>(way.bytes(array_bytes));
  auto* starts = static_cast<int64_t*>(way.bytes(array_bytes));
  if (packed == nullptr || counts == nullptr || starts == nullptr) return;
  int64_t start = 0;
  for (int32_t r = 0; r < size; ++r) {
    const Block block = blocks[r];
    counts[r] = block.bytes();
    starts[r] = start;
    way.copy(block, Block{packed + start, counts[r], &byte_type});
    start += counts[r];
  }
  pairwise(way, Blocks(packed, Array(counts), Array(starts), byte_type), blocks);
}

}  // namespace

template <class Way>
void alltoall(Way& way, const Blocks& from, const Blocks& to) {
  const bool regular = to.regular() && (from.in_place() || from.regular());
  const int64_t block_bytes = regular ? to[0].bytes() : 0;
  const bool suits = way.comm().size > 1 && block_bytes > 0;
  const Algorithms able =
      shm_nonblocking::able(way, suits, way.comm().size > 1 ? way.comm().size * block_bytes : shm_nonblocking::too_many)
          .without(Algorithm::bruck, block_bytes == 0);
  const Collective collective = regular ? Collective::alltoall : Collective::alltoallv;
  const Algorithm algorithm = choose(way.comm(), collective, block_bytes, able);
  const auto again = [&] { alltoall(way, from, to); };
  if constexpr (std::is_same_v<Way, Schedule>) {
    if (algorithm == Algorithm::shared) {
      return regular ? shm_nonblocking::alltoall(way, from, to, again)
                     : shm_nonblocking::alltoallv(way, from, to, again);
    }
  }
  if (shm_nonblocking::agreed(way, collective, block_bytes, shm_nonblocking::no_root, again)) return;
  if constexpr (std::is_same_v<Way, Schedule>) {
    if (algorithm == Algorithm::peer_copy) return peer_copy::alltoall(way, from, to, again);
  }
  if (algorithm == Algorithm::bruck) {
    alltoall_bruck(way, from.in_place() ? to : from, to, block_bytes);
  } else if (from.in_place()) {
    in_place(way, to);
  } else {
    pairwise(way, from, to);
  }
}

template void alltoall(Schedule& way, const Blocks& from, const Blocks& to);

}  // namespace plan

int32_t alltoall(Comm& comm, const Blocks& from, const Blocks& to, bool mapped) {
  const bool regular = to.regular() && (from.in_place() || from.regular());
  const int64_t bytes = regular ? to[0].bytes() : 0;
  const Algorithms able =
      shm_blocking::if_suits(!regular || bytes > 0).without(Algorithm::shared, regular && from.in_place());
  const Collective collective = regular ? Collective::alltoall : Collective::alltoallv;
  const int64_t posted = regular ? bytes * comm.size : SharedRegion::most_area;
  // Smaller ones are copied in less time than ranks take to wait for each other once more.
  constexpr int64_t large = 16 << 10;
  const shm_blocking::WantedOperation wanted{
      .collective = collective, .bytes = bytes, .posted = posted, .able = able, .mapped = mapped && bytes >= large};
  const auto result = shm_blocking::in_region(comm, wanted, [&](SharedRegion& region) {
    return regular ? shm_blocking::alltoall(region, from, to, bytes) : shm_blocking::alltoallv(region, from, to);
  });
  if (result) return *result;
  Channel channel(comm, Tag::alltoall);
  plan::alltoall(channel, from, to);
  return channel.finish();
}

}  // namespace weft::coll
