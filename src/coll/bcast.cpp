// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/channel.hpp"
#include "coll/coll.hpp"
#include "coll/plan.hpp"
#include "coll/schedule.hpp"

namespace weft::coll {

namespace plan {

// A binomial tree with the root's rank turned to 0: a rank receives from the one without its lowest bit, and sends to
// those with one bit below that, the largest subtree first.
template <class Way>
void bcast(Way& way, const Block& data, int32_t root) {
  const int64_t size = way.comm().size;
  if (size == 1 || data.bytes() == 0) return;
  const int64_t turned = (way.comm().rank - root + size) % size;
  int64_t bit = 1;
  while (bit < size && (turned & bit) == 0) bit *= 2;
  if (turned != 0) {
    way.receive(data, static_cast<int32_t>((turned - bit + root) % size));
    way.fence();
  }
  for (bit /= 2; bit > 0; bit /= 2) {
    if (turned + bit < size) way.send(data, static_cast<int32_t>((turned + bit + root) % size));
  }
}

template void bcast(Schedule& way, const Block& data, int32_t root);

}  // namespace plan

int32_t bcast(Comm& comm, void* buffer, int64_t count, Type& type, int32_t root) {
  Channel channel(comm, Tag::bcast);
  plan::bcast(channel, Block{buffer, count, &type}, root);
  return channel.finish();
}

}  // namespace weft::coll
