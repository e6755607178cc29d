// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <type_traits>

#include "coll/coll.hpp"
#include "coll/plan/channel.hpp"
#include "coll/plan/packed.hpp"
#include "coll/plan/pattern.hpp"
#include "coll/plan/plan.hpp"
#include "coll/plan/schedule.hpp"
#include "coll/plan/team.hpp"
#include "coll/select/select.hpp"
#include "coll/shm/shm_blocking.hpp"
#include "coll/shm/shm_nonblocking.hpp"

namespace weft::coll {

namespace plan {

namespace {

// The leaders of other hosts pack the blocks of their hosts for the root. Blocks are of one size.
template <class Way>
void gather_among_hosts(Way& way, const Block& mine, const Blocks& all, int64_t block_bytes, int32_t root) {
  const core::Hosts& hosts = *way.comm().hosts;
  const ByHost by_host(hosts, root);
  const Team& ours = by_host.ours;
  const bool is_root = way.comm().rank == root;
  if (!by_host.leads()) return way.send(mine, ours[by_host.leader]);
  const Packed packed = Packed::make(way, is_root ? hosts.size() : ours.size, block_bytes);
  if (packed.data == nullptr) return;
  if (!is_root) {
    way.copy(mine, packed.blocks(0, 1));
    for (int32_t p = 1; p < ours.size; ++p) way.receive(packed.blocks(p, 1), ours[p]);
    way.fence();
    return way.send(packed.blocks(0, ours.size), root);
  }
  for (int32_t h = 0; h < hosts.count(); ++h) {
    if (h != hosts.host) way.receive(packed.blocks(hosts.start(h), hosts.ranks_on(h)), by_host.leaders[h]);
  }
  for (int32_t p = 0; p < ours.size; ++p) {
    if (ours[p] != root) way.receive(all[ours[p]], ours[p]);
  }
  if (!mine.in_place()) way.copy(mine, all[root]);
  way.fence();
  for (int32_t h = 0; h < hosts.count(); ++h) {
    if (h == hosts.host) continue;
    for (int32_t i = hosts.start(h); i < hosts.start(h + 1); ++i) way.copy(packed.blocks(i, 1), all[hosts.rank_at(i)]);
  }
}

// Along a tree, in slots of one size. A larger block goes to the root directly: so no rank need know the size of any
// block but its own, and the root those of all.
template <class Way>
void by_tree(Way& way, const Block& mine, const Blocks& all, int64_t slot_bytes, int32_t root) {
  const Comm& comm = way.comm();
  const Team ranks = host_by_host(comm);
  const int32_t top = place_of(comm, root);
  const Packed slots = Packed::make(way, subtree(ranks, top), slot_bytes);
  if (slots.data == nullptr) return;
  if (comm.rank != root) {
    const bool fits = mine.bytes() <= slot_bytes;
    if (fits) way.copy(mine, slots.part(0, mine.bytes()));
    collect_blocks(way, ranks, slots, top);
    if (!fits) way.send(mine, root);
    return;
  }
  collect_blocks(way, ranks, slots, top);
  for (int32_t i = 1; i < ranks.size; ++i) {
    const int32_t rank = after(ranks, i);
    const Block block = all[rank];
    if (block.bytes() > slot_bytes) {
      way.receive(block, rank);
    } else {
      way.copy(slots.part(i, block.bytes()), block);
    }
  }
  if (!mine.in_place()) way.copy(mine, all[root]);
}

}  // namespace

// Every rank sends to the root, which takes the blocks as they come; small ones of other hosts, or of whole subtrees,
// together.
template <class Way>
void gather(Way& way, const Block& mine, const Blocks& all, int32_t root) {
  const Comm& comm = way.comm();
  const bool regular = all.regular();
  const int64_t block_bytes = regular ? all[0].bytes() : 0;
  const Collective collective = regular ? Collective::gather : Collective::gatherv;
  const Choice& choice =
      find_choice(comm, collective, block_bytes,
                  shm_nonblocking::able(way, false, comm.size > 1 ? block_bytes : shm_nonblocking::too_many));
  const auto again = [&] { gather(way, mine, all, root); };
  if constexpr (std::is_same_v<Way, Schedule>) {
    if (choice.algorithm == Algorithm::shared) {
      return regular ? shm_nonblocking::gather(way, mine, all, root, again)
                     : shm_nonblocking::gatherv(way, mine, all, root, again);
    }
  }
  if (shm_nonblocking::agreed(way, collective, block_bytes, root, again) || (regular && block_bytes == 0)) return;
  if (choice.algorithm == Algorithm::tree)
    return by_tree(way, mine, all, regular ? block_bytes : slot_of(choice), root);
  if (choice.algorithm == Algorithm::leaders) return gather_among_hosts(way, mine, all, block_bytes, root);
  if (comm.rank != root) {
    if (mine.bytes() > 0 || shm_nonblocking::sends_empty(way)) way.send(mine, root);
    return;
  }
  for (int32_t r = 0; r < comm.size; ++r) {
    const Block block = all[r];
    if (r != root && (block.bytes() > 0 || shm_nonblocking::sends_empty(way))) way.receive(block, r);
  }
  if (!mine.in_place()) way.copy(mine, all[root]);
}

template void gather(Schedule& way, const Block& mine, const Blocks& all, int32_t root);

}  // namespace plan

int32_t gather(Comm& comm, const Block& mine, const Blocks& all, int32_t root) {
  const bool regular = all.regular();
  const int64_t bytes = regular ? all[0].bytes() : 0;
  const shm_blocking::WantedOperation wanted =
      regular ? shm_blocking::WantedOperation{Collective::gather, bytes, bytes, shm_blocking::if_suits(bytes > 0), root}
              : shm_blocking::WantedOperation{Collective::gatherv, 0, SharedRegion::unknown_bytes,
                                              Algorithms::blocking(), root};
  const auto result = shm_blocking::in_region(comm, wanted, [&](SharedRegion& region) {
    if (!regular) return shm_blocking::gatherv(comm, region, mine, all, root);
    return shm_blocking::gather(region, mine, all, bytes, root);
  });
  if (result) return *result;
  Channel channel(comm, Tag::gather);
  plan::gather(channel, mine, all, root);
  return channel.finish();
}

}  // namespace weft::coll
