// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <type_traits>

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

// On hosts with more ranks their leader would be the bottleneck.
constexpr int32_t flat_limit = 32;

// Everybody has come when the first one is through; then it lets the others go.
template <class Way, class Ranks>
void sign_in(Way& way, const Ranks& ranks, const Block& nothing) {
  if (ranks.place != 0) return way.send(nothing, ranks[0]);
  for (int32_t p = 1; p < ranks.size; ++p) way.receive(nothing, ranks[p]);
  way.fence();
}
template <class Way, class Ranks>
void let_go(Way& way, const Ranks& ranks, const Block& nothing) {
  if (ranks.place != 0) return way.receive(nothing, ranks[0]);
  for (int32_t p = 1; p < ranks.size; ++p) way.send(nothing, ranks[p]);
}

// Ranks sign in along a binomial tree; spread() lets them go.
template <class Way>
void sign_in_by_tree(Way& way, const Team& ranks, const Block& nothing) {
  const core::TreePlace tree = core::tree_place(ranks.place, ranks.size, 0);
  for (int32_t i = 0; i < tree.below; ++i) way.receive(nothing, ranks[ranks.place + (1 << i)]);
  way.fence();
  if (tree.above >= 0) way.send(nothing, ranks[tree.above]);
}

template <class Way>
void barrier_among_hosts(Way& way, const ByHost& by_host, const Block& nothing) {
  const bool few = by_host.ours.size <= flat_limit;
  if (few) {
    sign_in(way, by_host.ours, nothing);
  } else {
    sign_in_by_tree(way, by_host.ours, nothing);
  }
  if (by_host.leads()) disseminate(way, by_host.leaders, nothing, nothing, [] {});
  if (few) {
    let_go(way, by_host.ours, nothing);
  } else {
    spread(way, by_host.ours, nothing, 0);
  }
}

}  // namespace

template <class Way>
void barrier(Way& way) {
  const Block nothing{nullptr, 0, &byte_type};
  const Comm& comm = way.comm();
  const Everybody all(comm);
  if (comm.size == 1) return;
  const Algorithm algorithm = choose(comm, Collective::barrier, 0, shm_nonblocking::able(way, false, 0));
  if constexpr (std::is_same_v<Way, Schedule>) {
    if (algorithm == Algorithm::shared) return shm_nonblocking::barrier(way, [&] { barrier(way); });
  }
  switch (algorithm) {
    case Algorithm::leaders:
      return barrier_among_hosts(way, ByHost(*comm.hosts), nothing);
    case Algorithm::flat:
      sign_in(way, all, nothing);
      return let_go(way, all, nothing);
    default:
      return disseminate(way, all, nothing, nothing, [] {});
  }
}

template void barrier(Schedule& way);

}  // namespace plan

int32_t barrier(Comm& comm) {
  if (comm.size == 1) return core::no_error;
  const auto result =
      shm_blocking::in_region(comm, {Collective::barrier, 0, 0, Algorithms::blocking()}, shm_blocking::barrier,
                              [&] { return offload::attempt({.collective = Collective::barrier, .comm = comm}); });
  if (result) return *result;
  Channel channel(comm, Tag::barrier);
  plan::barrier(channel);
  return channel.finish();
}

}  // namespace weft::coll
