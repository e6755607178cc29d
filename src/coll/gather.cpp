// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/coll.hpp"
#include "coll/exchange.hpp"

namespace weft::coll {

// Every rank sends to the root, which takes the blocks as they come.
int32_t gather(Comm& comm, const Block& mine, const Blocks& all, int32_t root) {
  Channel channel(comm, Tag::gather);
  if (comm.rank != root) {
    if (mine.bytes() > 0) channel.send(mine.data, mine.count, *mine.type, root);
    return channel.error();
  }
  for (int32_t r = 0; r < comm.size; ++r) {
    const Block block = all[r];
    if (r != root && block.bytes() > 0) channel.start_receive(block, r);
  }
  if (!mine.in_place()) channel.note_error(copy_block(mine, all[root]));
  return channel.finish();
}

}  // namespace weft::coll
