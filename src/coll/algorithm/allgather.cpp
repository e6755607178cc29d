// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <type_traits>

#include "coll/coll.hpp"
#include "coll/plan/channel.hpp"
#include "coll/plan/pattern.hpp"
#include "coll/plan/plan.hpp"
#include "coll/plan/schedule.hpp"
#include "coll/select/select.hpp"
#include "coll/shm/peer_copy.hpp"
#include "coll/shm/shm_blocking.hpp"
#include "coll/shm/shm_nonblocking.hpp"

namespace weft::coll {

namespace {

int64_t largest_of(const Blocks& all, int32_t ranks) {
  int64_t largest = all[0].bytes();
  for (int32_t r = 1; !all.regular() && r < ranks; ++r) largest = std::max(largest, all[r].bytes());
  return largest;
}

int64_t total_of(const Blocks& all, int32_t ranks) {
  int64_t total = all.regular() ? ranks * all[0].bytes() : 0;
  for (int32_t r = 0; !all.regular() && r < ranks; ++r) total += all[r].bytes();
  return total;
}

}  // namespace

namespace plan {

namespace {

// Round the ring: in each step a rank hands on the block it got in the step before.
template <class Way, class Ranks>
void ring(Way& way, const Ranks& ranks, const Blocks& all) {
  const int32_t size = ranks.size;
  const int32_t to = ranks[(ranks.place + 1) % size];
  const int32_t from = ranks[(ranks.place + size - 1) % size];
  for (int32_t step = 1; step < size; ++step) {
    way.receive(all[ranks[(ranks.place + size - step) % size]], from);
    way.send(all[ranks[(ranks.place + size - step + 1) % size]], to);
    way.fence();
  }
}

// Each rank gives its block to every other one, all at once: bytes as round the ring, one step instead of size - 1.
template <class Way>
void pairwise(Way& way, const Block& mine, const Blocks& all) {
  const Comm& comm = way.comm();
  const Block ours = mine.in_place() ? all[comm.rank] : mine;
  for (int32_t step = 1; step < comm.size; ++step) {
    way.receive(all[(comm.rank + comm.size - step) % comm.size], (comm.rank + comm.size - step) % comm.size);
  }
  for (int32_t step = 1; step < comm.size; ++step) way.send(ours, (comm.rank + step) % comm.size);
  if (!mine.in_place()) way.copy(mine, all[comm.rank]);
}

// Blocks of consecutive ranks, all of one size: one behind the other.
Block together(const Blocks& all, int32_t first, int32_t count) {
  const Block block = all[first];
  return {block.data, count * block.count, block.type};
}

// Recursive doubling: a rank has the blocks of a cube of ranks, which in each step is twice as large. They are where
// they belong, so nothing is packed. For a power of two of ranks, and blocks of one size.
template <class Way>
void doubling(Way& way, const Blocks& all) {
  const Comm& comm = way.comm();
  for (int32_t have = 1; have < comm.size; have *= 2) {
    const int32_t partner = comm.rank ^ have;
    way.receive(together(all, partner & -have, have), partner);
    way.send(together(all, comm.rank & -have, have), partner);
    way.fence();
  }
}

// Neighbour exchange (Chen and others): pairs of ranks first, then a rank and its two neighbours, in turn, exchange the
// pair of blocks that came last. It takes half the steps of the ring. It is for an even number of ranks, and blocks of
// one size.
template <class Way>
void neighbours(Way& way, const Blocks& all) {
  const Comm& comm = way.comm();
  const int32_t size = comm.size;
  const bool even = comm.rank % 2 == 0;
  const int32_t beside[2] = {(comm.rank + (even ? 1 : size - 1)) % size, (comm.rank + (even ? size - 1 : 1)) % size};
  way.receive(all[beside[0]], beside[0]);
  way.send(all[comm.rank], beside[0]);
  way.fence();
  // Pairs by their first ranks. Ours goes out first; after that what came in the step before.
  int32_t out = comm.rank & ~1;
  for (int32_t step = 1; step < size / 2; ++step) {
    // The pair that comes moves away from ours by one pair each second step, to both sides in turn.
    const int32_t away = 2 * ((step + 1) / 2);
    const bool above = even == (step % 2 == 0);
    const int32_t in = ((comm.rank & ~1) + (above ? away : size - away)) % size;
    way.receive(together(all, in, 2), beside[step % 2]);
    way.send(together(all, out, 2), beside[step % 2]);
    way.fence();
    out = in;
  }
}

// The leaders gather the blocks of their hosts, do the same among themselves with those, and give their hosts all. A
// host packs its own blocks first, then those of the hosts after it.
template <class Way>
void allgather_among_hosts(Way& way, const core::Hosts& hosts, const Packed& packed, const Blocks& all) {
  const int32_t rank = way.comm().rank;
  const ByHost by_host(hosts);
  const Team& ours = by_host.ours;
  auto blocks_before = [&](int32_t h) {  // of the h-th host after ours
    const int32_t other = (hosts.host + h) % hosts.count();
    if (h == hosts.count()) return hosts.size();
    return (hosts.start(other) - hosts.start(hosts.host) + hosts.size()) % hosts.size();
  };
  way.copy(all[rank], packed.blocks(ours.place, 1));
  if (by_host.leads()) {
    for (int32_t p = 1; p < ours.size; ++p) way.receive(packed.blocks(p, 1), ours[p]);
    way.fence();
    bruck(way, by_host.leaders, [&](int32_t first, int32_t n) {
      const int32_t start = blocks_before(first);
      return packed.blocks(start, blocks_before(first + n) - start);
    });
  } else {
    way.send(packed.blocks(ours.place, 1), ours[0]);
    way.fence();
  }
  spread(way, ours, packed.blocks(0, hosts.size()), 0);
  for (int32_t i = 0; i < hosts.size(); ++i) {
    const int32_t r = hosts.rank_at((hosts.start(hosts.host) + i) % hosts.size());
    if (r != rank) way.copy(packed.blocks(i, 1), all[r]);
  }
}

}  // namespace

template <class Way>
void allgather(Way& way, const Block& mine, const Blocks& all) {
  const Comm& comm = way.comm();
  const bool regular = all.regular();
  const int64_t block_bytes = regular ? all[0].bytes() : 0;
  const int64_t total = total_of(all, comm.size);
  auto place_ours = [&] {
    if (!mine.in_place()) way.copy(mine, all[comm.rank]);
  };
  if (comm.size == 1) return place_ours();
  const bool cube = std::has_single_bit(static_cast<uint32_t>(comm.size));
  const Algorithms able =
      shm_nonblocking::able(way, true, largest_of(all, comm.size))
          .without(Algorithm::doubling, !regular || !cube)
          .without(Algorithm::neighbours, !regular || comm.size % 2 != 0 || !by_host_in_order(comm));
  const Collective collective = regular ? Collective::allgather : Collective::allgatherv;
  const Algorithm algorithm = choose(comm, collective, total, able);
  const auto again = [&] { allgather(way, mine, all); };
  if constexpr (std::is_same_v<Way, Schedule>) {
    if (algorithm == Algorithm::shared) return shm_nonblocking::allgather(way, mine, all, total, again);
  }
  if (shm_nonblocking::agreed(way, collective, total, shm_nonblocking::no_root, again) || total == 0) return;
  if constexpr (std::is_same_v<Way, Schedule>) {
    if (algorithm == Algorithm::peer_copy) return peer_copy::allgather(way, mine, all, again);
  }
  if (algorithm == Algorithm::pairwise) return pairwise(way, mine, all);
  place_ours();
  if (algorithm == Algorithm::doubling) return doubling(way, all);
  if (algorithm == Algorithm::neighbours) return neighbours(way, all);
  if (algorithm == Algorithm::ring) {
    if (by_host_in_order(comm)) return ring(way, Everybody(comm), all);
    return ring(way, host_by_host(comm), all);  // a block comes to each host once
  }
  const core::Hosts* hosts = algorithm == Algorithm::leaders ? comm.hosts : nullptr;
  const Packed packed =
      regular ? Packed::make(way, comm.size, block_bytes) : Packed::make_for(way, comm.size, [&](int32_t i) {
        if (hosts == nullptr) return all[(comm.rank + i) % comm.size].bytes();
        return all[hosts->rank_at((hosts->start(hosts->host) + i) % comm.size)].bytes();
      });
  if (packed.data == nullptr) return;
  if (hosts != nullptr) {
    allgather_among_hosts(way, *hosts, packed, all);
  } else {
    gather_packed(way, Everybody(comm), packed, all);
  }
}

template void allgather(Schedule& way, const Block& mine, const Blocks& all);

}  // namespace plan

int32_t allgather(Comm& comm, const Block& mine, const Blocks& all) {
  const bool regular = all.regular();
  const int64_t largest = largest_of(all, comm.size);
  const int64_t total = total_of(all, comm.size);
  const Collective collective = regular ? Collective::allgather : Collective::allgatherv;
  const auto result = shm_blocking::in_region(
      comm, {collective, total, largest, shm_blocking::if_suits(total > 0)},
      [&](SharedRegion& region) { return shm_blocking::allgather(region, mine, all, largest); });
  if (result) return *result;
  Channel channel(comm, Tag::allgather);
  plan::allgather(channel, mine, all);
  return channel.finish();
}

}  // namespace weft::coll
