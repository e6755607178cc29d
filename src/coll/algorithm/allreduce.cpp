// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <type_traits>
#include <utility>

#include "coll/algorithm/reduce_ring.hpp"
#include "coll/algorithm/reduce_split.hpp"
#include "coll/coll.hpp"
#include "coll/offload/offload.hpp"
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

// Two buffers that change roles: our data, and the incoming data.
template <class Way>
struct Partial {
  Way& way;
  const Reducer& reducer;
  int64_t count;
  void* mine;
  void* spare;

  // Takes in a partial result of ranks that stand directly below or above ours, so that the order of ranks is kept and
  // all ranks compute bitwise the same.
  void combine(bool from_below) {
    if (from_below) return way.reduce(reducer, spare, mine, count);
    way.reduce(reducer, mine, spare, count);
    std::swap(mine, spare);
  }
  Block part(void* data) const { return elements_at(data, count, reducer); }
  void receive(int32_t from) {
    way.receive(part(spare), from);
    way.fence();
  }
  void send(int32_t to) { way.send(part(mine), to); }
  void swap_with(int32_t partner) {
    way.receive(part(spare), partner);
    way.send(part(mine), partner);
    way.fence();
  }
  // Our part for the result.
  void trade(int32_t partner) {
    swap_with(partner);
    std::swap(mine, spare);
  }
};

// Rank 0 takes the others' data in the order of ranks and sends all of them the result.
template <class Way>
void flat(const Comm& comm, Partial<Way>& partial) {
  if (comm.rank != 0) return partial.trade(0);
  for (int32_t r = 1; r < comm.size; ++r) {
    partial.receive(r);
    partial.combine(false);
  }
  for (int32_t r = 1; r < comm.size; ++r) partial.send(r);
}

// Recursive doubling. Ranks beyond a power of two fold into their odd neighbours first and get the result last.
template <class Way, class Ranks>
void recursive_doubling(const Ranks& ranks, Partial<Way>& partial) {
  int32_t power = 1;
  while (power <= ranks.size / 2) power *= 2;
  const int32_t folded = ranks.size - power;  // pairs (2i, 2i + 1) for i below this
  const int32_t place = ranks.place;
  if (place < 2 * folded) {
    if (place % 2 == 0) return partial.trade(ranks[place + 1]);
    partial.receive(ranks[place - 1]);
    partial.combine(true);
  }
  const int32_t vertex = place < 2 * folded ? place / 2 : place - folded;
  for (int32_t bit = 1; bit < power; bit *= 2) {
    const int32_t other = vertex ^ bit;
    partial.swap_with(ranks[other < folded ? 2 * other + 1 : other + folded]);
    partial.combine(other < vertex);
  }
  if (place < 2 * folded) partial.send(ranks[place - 1]);
}

// Each host reduces to its leader, the leaders do so among themselves, and each sends its host the result.
template <class Way>
void allreduce_among_hosts(const ByHost& by_host, Partial<Way>& partial, void* result) {
  collect(partial.way, by_host.ours, partial.mine, partial.spare, partial.count, partial.reducer, 0);
  if (by_host.leads()) {
    recursive_doubling(by_host.leaders, partial);
  } else {
    partial.way.fence();  // our part may still be on its way, and be where the result goes
    partial.mine = result;
  }
  spread(partial.way, by_host.ours, partial.part(partial.mine), 0);
}

}  // namespace

template <class Way>
void allreduce(Way& way, const void* send, void* receive, int64_t count, const Reducer& reducer) {
  const Comm& comm = way.comm();
  Type& type = *reducer.type;
  auto part = [&](const void* data) { return elements_at(data, count, reducer); };
  if (reducer.fixed && comm.size > 1) {
    reduce(way, send, receive, count, reducer, 0);
    way.fence();
    return bcast(way, part(receive), 0);
  }
  const bool by_host = reducer.commutative || by_host_in_order(comm);
  const bool suits = comm.size > 1 && shm_blocking::suits(reducer);
  const Algorithms able = shm_nonblocking::able(way, suits, suits ? count * type.size : shm_nonblocking::too_many)
                              .without(Algorithm::leaders, !by_host)
                              .without(Algorithm::split, count < comm.size)
                              .without(Algorithm::ring, count < comm.size || !reducer.commutative);
  const Algorithm algorithm = choose(comm, Collective::allreduce, count * type.size, able);
  const int64_t bytes = count * type.size;
  const auto again = [&] { allreduce(way, send, receive, count, reducer); };
  if constexpr (std::is_same_v<Way, Schedule>) {
    if (algorithm == Algorithm::shared) return shm_nonblocking::allreduce(way, send, receive, count, reducer, again);
  }
  if (shm_nonblocking::agreed(way, Collective::allreduce, bytes, shm_nonblocking::no_root, again,
                              call::details_of(reducer)) ||
      bytes == 0)
    return;
  if constexpr (std::is_same_v<Way, Schedule>) {
    if (algorithm == Algorithm::peer_copy) return peer_copy::allreduce(way, send, receive, count, reducer, again);
  }
  if (send != receive) way.copy(part(send), part(receive));
  if (comm.size == 1) return;
  void* spare = way.elements(type, count);
  if (spare == nullptr) return;
  Partial<Way> partial{way, reducer, count, receive, spare};
  switch (algorithm) {
    case Algorithm::leaders:
      allreduce_among_hosts(ByHost(*comm.hosts), partial, receive);
      break;
    case Algorithm::flat:
      flat(comm, partial);
      break;
    case Algorithm::ring:
      return reduce_ring(way, host_by_host(comm), receive, spare, count, reducer, all_ranks);
    case Algorithm::split:
      return reduce_split(way, receive, spare, count, reducer, all_ranks);
    default:
      recursive_doubling(Everybody(comm), partial);
  }
  if (partial.mine != receive) way.copy(part(partial.mine), part(receive));
}

template void allreduce(Schedule& way, const void* send, void* receive, int64_t count, const Reducer& reducer);

}  // namespace plan

int32_t allreduce(Comm& comm, const void* send, void* receive, int64_t count, const Reducer& reducer) {
  const int64_t bytes = count * reducer.type->size;
  const Algorithms able = shm_blocking::if_suits(bytes > 0 && shm_blocking::suits(reducer));
  const auto result = shm_blocking::in_region(
      comm, {Collective::allreduce, bytes, bytes, able, SharedRegion::everybody, call::details_of(reducer)},
      [&](SharedRegion& region) { return shm_blocking::allreduce(region, send, receive, count, reducer); },
      [&] {
        return offload::attempt({.collective = Collective::allreduce,
                                 .comm = comm,
                                 .send = send,
                                 .receive = receive,
                                 .count = count,
                                 .type = reducer.type,
                                 .reducer = &reducer});
      });
  if (result) return *result;
  Channel channel(comm, Tag::allreduce);
  plan::allreduce(channel, send, receive, count, reducer);
  return channel.finish();
}

}  // namespace weft::coll
