// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/channel.hpp"
#include "coll/coll.hpp"
#include "coll/plan.hpp"
#include "coll/schedule.hpp"

namespace weft::coll {

namespace plan {

// Every rank sends to the root, which takes the blocks as they come.
template <class Way>
void gather(Way& way, const Block& mine, const Blocks& all, int32_t root) {
  const Comm& comm = way.comm();
  if (comm.rank != root) {
    if (mine.bytes() > 0) way.send(mine, root);
    return;
  }
  for (int32_t r = 0; r < comm.size; ++r) {
    const Block block = all[r];
    if (r != root && block.bytes() > 0) way.receive(block, r);
  }
  if (!mine.in_place()) way.copy(mine, all[root]);
}

template void gather(Schedule& way, const Block& mine, const Blocks& all, int32_t root);

}  // namespace plan

int32_t gather(Comm& comm, const Block& mine, const Blocks& all, int32_t root) {
  Channel channel(comm, Tag::gather);
  plan::gather(channel, mine, all, root);
  return channel.finish();
}

}  // namespace weft::coll
