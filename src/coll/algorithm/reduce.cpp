// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <type_traits>

#include "coll/algorithm/reduce_ring.hpp"
#include "coll/algorithm/reduce_scatter_halving.hpp"
#include "coll/algorithm/reduce_scatter_pairwise.hpp"
#include "coll/algorithm/reduce_split.hpp"
#include "coll/coll.hpp"
#include "coll/plan/channel.hpp"
#include "coll/plan/pattern.hpp"
#include "coll/plan/plan.hpp"
#include "coll/plan/schedule.hpp"
#include "coll/select/select.hpp"
#include "coll/shm/call.hpp"
#include "coll/shm/peer_copy.hpp"
#include "coll/shm/shm_blocking.hpp"
#include "coll/shm/shm_nonblocking.hpp"

namespace weft::coll {

namespace plan {

namespace {

// Reduced at rank 0 in the order of ranks, then handed out.
template <class Way>
void by_root(Way& way, const void* send, const Block& mine, const Array& counts, const Array& starts, int64_t total,
             const Reducer& reducer) {
  const bool is_root = way.comm().rank == 0;
  void* result = is_root ? way.elements(*reducer.type, total) : nullptr;
  if (is_root && result == nullptr) return;
  reduce(way, send, result, total, reducer, 0);
  way.fence();
  const Blocks parts =
      counts.is_uniform() ? Blocks(result, counts[0], *reducer.type) : Blocks(result, counts, starts, *reducer.type);
  scatter(way, parts, mine, 0);
}

}  // namespace

// A binomial tree; on several hosts one for each, and one of their leaders. Where the order of ranks counts the trees
// begin with the first ranks. Or each rank reduces a part.
template <class Way>
void reduce(Way& way, const void* send, void* receive, int64_t count, const Reducer& reducer, int32_t root) {
  const Comm& comm = way.comm();
  const Type& type = *reducer.type;
  const bool is_root = comm.rank == root;
  auto part = [&](const void* data) { return elements_at(data, count, reducer); };
  const int64_t bytes = count * type.size;
  if (comm.size == 1) {
    if (bytes > 0 && send != receive) way.copy(part(send), part(receive));
    return;
  }
  // Leaders keep the order of ranks where those of each host are consecutive.
  const bool by_host = !reducer.fixed && (reducer.commutative || by_host_in_order(comm));
  const bool suits = shm_blocking::suits(reducer);
  const Algorithms able = shm_nonblocking::able(way, suits, suits ? count * type.size : shm_nonblocking::too_many)
                              .without(Algorithm::leaders, !by_host)
                              .without(Algorithm::split, count < comm.size || reducer.fixed)
                              .without(Algorithm::ring, count < comm.size || !reducer.commutative);
  const Algorithm algorithm = choose(comm, Collective::reduce, count * type.size, able);
  const auto again = [&] { reduce(way, send, receive, count, reducer, root); };
  if constexpr (std::is_same_v<Way, Schedule>) {
    if (algorithm == Algorithm::shared) return shm_nonblocking::reduce(way, send, receive, count, reducer, root, again);
  }
  if (shm_nonblocking::agreed(way, Collective::reduce, bytes, root, again, call::details_of(reducer)) || bytes == 0)
    return;
  if constexpr (std::is_same_v<Way, Schedule>) {
    if (algorithm == Algorithm::peer_copy) return peer_copy::reduce(way, send, receive, count, reducer, root, again);
  }
  void* mine = is_root ? receive : way.elements(type, count);
  void* spare = way.elements(type, count);
  if (spare == nullptr || (!is_root && mine == nullptr)) return;
  if (send != mine) way.copy(part(send), part(mine));
  if (algorithm == Algorithm::ring) {
    return reduce_ring(way, host_by_host(comm), mine, spare, count, reducer, place_of(comm, root));
  }
  if (algorithm == Algorithm::split) return reduce_split(way, mine, spare, count, reducer, root);
  // Where the result comes to be.
  const int32_t top = reducer.commutative ? root : 0;
  if (algorithm == Algorithm::leaders) {
    const ByHost hosts(*comm.hosts, top);
    collect(way, hosts.ours, mine, spare, count, reducer, hosts.leader);
    if (hosts.leads()) collect(way, hosts.leaders, mine, spare, count, reducer, hosts.root_host);
  } else {
    collect(way, Everybody(comm), mine, spare, count, reducer, top);
  }
  const void* result = mine;
  if (top != root && comm.rank == top) way.send(part(result), root);
  if (!is_root) return;
  if (top != root) {
    way.fence();  // `receive` may still be on its way to our parent
    way.receive(part(receive), top);
  } else if (result != receive) {
    way.copy(part(result), part(receive));
  }
}

template <class Way>
void reduce_scatter(Way& way, const void* send, void* receive, const Array& counts, const Reducer& reducer) {
  const Comm& comm = way.comm();
  Type& type = *reducer.type;
  auto* starts = static_cast<int64_t*>(way.bytes(comm.size * static_cast<int64_t>(sizeof(int64_t))));
  if (starts == nullptr) return;
  int64_t total = 0;
  for (int32_t r = 0; r < comm.size; ++r) {
    starts[r] = total;
    total += counts[r];
  }
  const bool suits = comm.size > 1 && shm_blocking::suits(reducer);
  const Algorithms able = shm_nonblocking::able(way, suits, suits ? total * type.size : shm_nonblocking::too_many)
                              .without(Algorithm::pairwise, !reducer.commutative)
                              .without(Algorithm::halving, !reducer.commutative);
  const Blocks parts(const_cast<void*>(send), counts, Array(starts), type);
  const int64_t bytes = total * type.size;
  const Algorithm algorithm = choose(comm, Collective::reduce_scatter, bytes, able);
  const auto again = [&] { reduce_scatter(way, send, receive, counts, reducer); };
  if constexpr (std::is_same_v<Way, Schedule>) {
    if (algorithm == Algorithm::shared) {
      return shm_nonblocking::reduce_scatter(way, send, receive, starts[comm.rank], counts[comm.rank], total, reducer,
                                             again);
    }
  }
  if (shm_nonblocking::agreed(way, Collective::reduce_scatter, bytes, shm_nonblocking::no_root, again,
                              call::details_of(reducer)) ||
      bytes == 0)
    return;
  switch (algorithm) {
    case Algorithm::pairwise:
      return reduce_scatter_pairwise(way, parts, receive, reducer);
    case Algorithm::halving:
      return reduce_scatter_halving(way, parts, total, receive, reducer);
    case Algorithm::peer_copy:
      if constexpr (std::is_same_v<Way, Schedule>) {
        peer_copy::reduce_scatter(way, send, receive, counts, reducer, again);
      }
      return;
    default:
      by_root(way, send, elements_at(receive, counts[comm.rank], reducer), counts, Array(starts), total, reducer);
  }
}

template void reduce(Schedule& way, const void* send, void* receive, int64_t count, const Reducer& reducer,
                     int32_t root);
template void reduce_scatter(Schedule& way, const void* send, void* receive, const Array& counts,
                             const Reducer& reducer);

}  // namespace plan

int32_t reduce(Comm& comm, const void* send, void* receive, int64_t count, const Reducer& reducer, int32_t root) {
  const int64_t bytes = count * reducer.type->size;
  const Algorithms able = shm_blocking::if_suits(bytes > 0 && shm_blocking::suits(reducer));
  const auto result = shm_blocking::in_region(
      comm, {Collective::reduce, bytes, bytes, able, root, call::details_of(reducer)},
      [&](SharedRegion& region) { return shm_blocking::reduce(region, send, receive, count, reducer, root); });
  if (result) return *result;
  Channel channel(comm, Tag::reduce);
  plan::reduce(channel, send, receive, count, reducer, root);
  return channel.finish();
}

int32_t reduce_scatter(Comm& comm, const void* send, void* receive, const Array& counts, const Reducer& reducer) {
  int64_t total = 0;
  for (int32_t r = 0; r < comm.size; ++r) total += counts[r];
  const int64_t bytes = total * reducer.type->size;
  const Algorithms able =
      shm_blocking::if_suits(bytes > 0 && shm_blocking::suits(reducer)).without(Algorithm::shared, send == receive);
  const auto result = shm_blocking::in_region(
      comm, {Collective::reduce_scatter, bytes, bytes, able, SharedRegion::everybody, call::details_of(reducer)},
      [&](SharedRegion& region) {
        return shm_blocking::reduce_scatter(region, send, receive, counts, total, reducer);
      });
  if (result) return *result;
  Channel channel(comm, Tag::reduce);
  plan::reduce_scatter(channel, send, receive, counts, reducer);
  return channel.finish();
}

}  // namespace weft::coll
