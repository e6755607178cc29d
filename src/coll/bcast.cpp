// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/coll.hpp"
#include "coll/exchange.hpp"

namespace weft::coll {

// A binomial tree with the root's rank turned to 0: a rank receives from the one without its lowest bit, and sends to
// those with one bit below that, the largest subtree first.
int32_t bcast(Comm& comm, void* buffer, int64_t count, Type& type, int32_t root) {
  if (comm.size == 1 || count * type.size == 0) return core::no_error;
  Channel channel(comm, Tag::bcast);
  const int64_t size = comm.size;
  const int64_t turned = (comm.rank - root + size) % size;
  int64_t bit = 1;
  while (bit < size && (turned & bit) == 0) bit *= 2;
  if (turned != 0) {
    channel.receive(buffer, count, type, static_cast<int32_t>((turned - bit + root) % size));
  }
  const Block block{buffer, count, &type};
  for (bit /= 2; bit > 0; bit /= 2) {
    if (turned + bit < size) channel.start_send(block, static_cast<int32_t>((turned + bit + root) % size));
  }
  return channel.finish();
}

}  // namespace weft::coll
