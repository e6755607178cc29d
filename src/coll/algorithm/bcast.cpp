// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <type_traits>

#include "coll/algorithm/bcast_split.hpp"
#include "coll/algorithm/chain.hpp"
#include "coll/coll.hpp"
#include "coll/offload/offload.hpp"
#include "coll/plan/channel.hpp"
#include "coll/plan/pattern.hpp"
#include "coll/plan/plan.hpp"
#include "coll/plan/schedule.hpp"
#include "coll/select/select.hpp"
#include "coll/shm/shm_blocking.hpp"
#include "coll/shm/shm_nonblocking.hpp"

namespace weft::coll {

namespace plan {

namespace {

// To the leaders first, of which the root is one: data cross to each other host once.
template <class Way>
void bcast_among_hosts(Way& way, const ByHost& by_host, const Block& data) {
  if (by_host.leads()) spread(way, by_host.leaders, data, by_host.root_host);
  spread(way, by_host.ours, data, by_host.leader);
}

}  // namespace

template <class Way>
void bcast(Way& way, const Block& data, int32_t root) {
  const Comm& comm = way.comm();
  const int64_t bytes = data.bytes();
  if (comm.size == 1) return;
  const Algorithms able = shm_nonblocking::able(way, false, bytes).without(Algorithm::split, bytes < comm.size);
  const Algorithm algorithm = choose(comm, Collective::bcast, bytes, able);
  const auto again = [&] { bcast(way, data, root); };
  if constexpr (std::is_same_v<Way, Schedule>) {
    if (algorithm == Algorithm::shared) return shm_nonblocking::bcast(way, data, root, again);
  }
  if (shm_nonblocking::agreed(way, Collective::bcast, bytes, root, again) || bytes == 0) return;
  switch (algorithm) {
    case Algorithm::leaders:
      return bcast_among_hosts(way, ByHost(*comm.hosts, root), data);
    case Algorithm::split:
      return bcast_split(way, data, root);
    case Algorithm::chain:
      return bcast_chain(way, data, root);
    default:
      return spread(way, Everybody(comm), data, root);
  }
}

template void bcast(Schedule& way, const Block& data, int32_t root);

}  // namespace plan

int32_t bcast(Comm& comm, void* buffer, int64_t count, Type& type, int32_t root) {
  const Block data{buffer, count, &type};
  const int64_t bytes = data.bytes();
  const auto result = shm_blocking::in_region(
      comm, {Collective::bcast, bytes, bytes, shm_blocking::if_suits(bytes > 0), root},
      [&](SharedRegion& region) { return shm_blocking::bcast(region, data, root); },
      [&] {
        return offload::attempt({.collective = Collective::bcast,
                                 .comm = comm,
                                 .receive = buffer,
                                 .count = count,
                                 .type = &type,
                                 .root = root});
      });
  if (result) return *result;
  Channel channel(comm, Tag::bcast);
  plan::bcast(channel, data, root);
  return channel.finish();
}

}  // namespace weft::coll
