// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/channel.hpp"
#include "coll/coll.hpp"
#include "coll/plan.hpp"
#include "coll/schedule.hpp"

namespace weft::coll {

namespace plan {

// The root sends every rank its block.
template <class Way>
void scatter(Way& way, const Blocks& all, const Block& mine, int32_t root) {
  const Comm& comm = way.comm();
  if (comm.rank != root) {
    if (mine.bytes() > 0) way.receive(mine, root);
    return;
  }
  for (int32_t r = 0; r < comm.size; ++r) {
    const Block block = all[r];
    if (r != root && block.bytes() > 0) way.send(block, r);
  }
  if (!mine.in_place()) way.copy(all[root], mine);
}

template void scatter(Channel& way, const Blocks& all, const Block& mine, int32_t root);
template void scatter(Schedule& way, const Blocks& all, const Block& mine, int32_t root);

}  // namespace plan

int32_t scatter(Comm& comm, const Blocks& all, const Block& mine, int32_t root) {
  Channel channel(comm, Tag::scatter);
  plan::scatter(channel, all, mine, root);
  return channel.finish();
}

}  // namespace weft::coll
