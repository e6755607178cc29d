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

// The root packs the blocks of other hosts for their leaders. Blocks are of one size.
template <class Way>
void among_hosts(Way& way, const Blocks& all, const Block& mine, int64_t block_bytes, int32_t root) {
  const core::Hosts& hosts = *way.comm().hosts;
  const ByHost by_host(hosts, root);
  const Team& ours = by_host.ours;
  const bool is_root = way.comm().rank == root;
  if (!by_host.leads()) return way.receive(mine, ours[by_host.leader]);
  const Packed packed = Packed::make(way, is_root ? hosts.size() : ours.size, block_bytes);
  if (packed.data == nullptr) return;
  if (!is_root) {
    way.receive(packed.blocks(0, ours.size), root);
    way.fence();
    for (int32_t p = 1; p < ours.size; ++p) way.send(packed.blocks(p, 1), ours[p]);
    return way.copy(packed.blocks(0, 1), mine);
  }
  for (int32_t h = 0; h < hosts.count(); ++h) {
    if (h == hosts.host) continue;
    for (int32_t i = hosts.start(h); i < hosts.start(h + 1); ++i) way.copy(all[hosts.rank_at(i)], packed.blocks(i, 1));
    way.send(packed.blocks(hosts.start(h), hosts.ranks_on(h)), by_host.leaders[h]);
  }
  for (int32_t p = 0; p < ours.size; ++p) {
    if (ours[p] != root) way.send(all[ours[p]], ours[p]);
  }
  if (!mine.in_place()) way.copy(all[root], mine);
}

// Along a tree, in slots of one size. A larger block comes from the root directly: so no rank need know the size of any
// block but its own, and the root those of all.
template <class Way>
void by_tree(Way& way, const Blocks& all, const Block& mine, int64_t slot_bytes, int32_t root) {
  const Comm& comm = way.comm();
  const Team ranks = host_by_host(comm);
  const int32_t top = place_of(comm, root);
  const Packed slots = Packed::make(way, subtree(ranks, top), slot_bytes);
  if (slots.data == nullptr) return;
  if (comm.rank != root) {
    const bool fits = mine.bytes() <= slot_bytes;
    spread_blocks(way, ranks, slots, top);
    if (fits) return way.copy(slots.part(0, mine.bytes()), mine);
    return way.receive(mine, root);
  }
  const auto each = [&](auto&& do_with) {
    for (int32_t i = 1; i < ranks.size; ++i) do_with(i, after(ranks, i), all[after(ranks, i)]);
  };
  each([&](int32_t i, int32_t, const Block& block) {
    if (block.bytes() <= slot_bytes) way.copy(block, slots.part(i, block.bytes()));
  });
  spread_blocks(way, ranks, slots, top);
  each([&](int32_t, int32_t rank, const Block& block) {
    if (block.bytes() > slot_bytes) way.send(block, rank);
  });
  if (!mine.in_place()) way.copy(all[root], mine);
}

}  // namespace

// The root sends every rank its block; small ones to other hosts, or to whole subtrees, together.
template <class Way>
void scatter(Way& way, const Blocks& all, const Block& mine, int32_t root) {
  const Comm& comm = way.comm();
  const bool regular = all.regular();
  const int64_t block_bytes = regular ? all[0].bytes() : 0;
  const Collective collective = regular ? Collective::scatter : Collective::scatterv;
  const Algorithms able =
      shm_nonblocking::able(way, false, comm.size > 1 ? comm.size * block_bytes : shm_nonblocking::too_many);
  const Choice& choice = find_choice(comm, collective, block_bytes, able);
  const auto again = [&] { scatter(way, all, mine, root); };
  if constexpr (std::is_same_v<Way, Schedule>) {
    if (choice.algorithm == Algorithm::shared) {
      return regular ? shm_nonblocking::scatter(way, all, mine, root, again)
                     : shm_nonblocking::scatterv(way, all, mine, root, again);
    }
  }
  if (shm_nonblocking::agreed(way, collective, block_bytes, root, again) || (regular && block_bytes == 0)) return;
  if (choice.algorithm == Algorithm::tree)
    return by_tree(way, all, mine, regular ? block_bytes : slot_of(choice), root);
  if (choice.algorithm == Algorithm::leaders) return among_hosts(way, all, mine, block_bytes, root);
  if (comm.rank != root) {
    if (mine.bytes() > 0 || shm_nonblocking::sends_empty(way)) way.receive(mine, root);
    return;
  }
  for (int32_t r = 0; r < comm.size; ++r) {
    const Block block = all[r];
    if (r != root && (block.bytes() > 0 || shm_nonblocking::sends_empty(way))) way.send(block, r);
  }
  if (!mine.in_place()) way.copy(all[root], mine);
}

template void scatter(Channel& way, const Blocks& all, const Block& mine, int32_t root);
template void scatter(Schedule& way, const Blocks& all, const Block& mine, int32_t root);

}  // namespace plan

int32_t scatter(Comm& comm, const Blocks& all, const Block& mine, int32_t root) {
  const bool regular = all.regular();
  const int64_t bytes = regular ? all[0].bytes() : 0;
  const int64_t posted =
      bytes <= SharedRegion::line_bytes ? bytes : bytes * comm.size;  // small blocks have a line each
  const shm_blocking::WantedOperation wanted =
      regular
          ? shm_blocking::WantedOperation{Collective::scatter, bytes, posted, shm_blocking::if_suits(bytes > 0), root}
          : shm_blocking::WantedOperation{Collective::scatterv, 0, SharedRegion::unknown_bytes, Algorithms::blocking(),
                                          root};
  const auto result = shm_blocking::in_region(comm, wanted, [&](SharedRegion& region) {
    if (!regular) return shm_blocking::scatterv(comm, region, all, mine, root);
    return shm_blocking::scatter(region, all, mine, bytes, root);
  });
  if (result) return *result;
  Channel channel(comm, Tag::scatter);
  plan::scatter(channel, all, mine, root);
  return channel.finish();
}

}  // namespace weft::coll
