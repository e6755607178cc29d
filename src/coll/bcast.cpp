// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/channel.hpp"
#include "coll/coll.hpp"
#include "coll/pattern.hpp"
#include "coll/plan.hpp"
#include "coll/schedule.hpp"

namespace weft::coll {

namespace plan {

// On several hosts to the leaders first, of which the root is one: data cross to each other host once.
template <class Way>
void bcast(Way& way, const Block& data, int32_t root) {
  const Comm& comm = way.comm();
  if (comm.size == 1 || data.bytes() == 0) return;
  if (comm.hosts == nullptr) return spread(way, Everybody(comm), data, root);
  const ByHost by_host(*comm.hosts, root);
  if (by_host.leads()) spread(way, by_host.leaders, data, by_host.root_host);
  spread(way, by_host.ours, data, by_host.leader);
}

template void bcast(Schedule& way, const Block& data, int32_t root);

}  // namespace plan

int32_t bcast(Comm& comm, void* buffer, int64_t count, Type& type, int32_t root) {
  Channel channel(comm, Tag::bcast);
  plan::bcast(channel, Block{buffer, count, &type}, root);
  return channel.finish();
}

}  // namespace weft::coll
