// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/coll.hpp"
#include "coll/exchange.hpp"

namespace weft::coll {

// The root sends every rank its block.
int32_t scatter(Comm& comm, const Blocks& all, const Block& mine, int32_t root) {
  Channel channel(comm, Tag::scatter);
  if (comm.rank != root) {
    if (mine.bytes() > 0) channel.receive(mine.data, mine.count, *mine.type, root);
    return channel.error();
  }
  for (int32_t r = 0; r < comm.size; ++r) {
    const Block block = all[r];
    if (r != root && block.bytes() > 0) channel.start_send(block, r);
  }
  if (!mine.in_place()) channel.note_error(copy_block(all[root], mine));
  return channel.finish();
}

}  // namespace weft::coll
