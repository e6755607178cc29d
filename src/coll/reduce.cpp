// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/channel.hpp"
#include "coll/coll.hpp"
#include "coll/pattern.hpp"
#include "coll/plan.hpp"
#include "coll/schedule.hpp"

namespace weft::coll {

namespace plan {

// A binomial tree; on several hosts one for each, and one of their leaders. The order of ranks is kept where it counts:
// the trees then begin with the first ranks, and hosts whose ranks alternate do without leaders.
template <class Way>
void reduce(Way& way, const void* send, void* receive, int64_t count, const Reducer& reducer, int32_t root) {
  const Comm& comm = way.comm();
  const Type& type = *reducer.type;
  const bool is_root = comm.rank == root;
  auto part = [&](const void* data) { return elements_at(data, count, reducer); };
  if (count * type.size == 0) return;
  if (comm.size == 1) {
    if (send != receive) way.copy(part(send), part(receive));
    return;
  }
  void* mine = is_root ? receive : way.elements(type, count);
  void* spare = way.elements(type, count);
  if (spare == nullptr || (!is_root && mine == nullptr)) return;
  if (send != mine) way.copy(part(send), part(mine));
  // Where the result comes to be.
  const int32_t top = reducer.commutative ? root : 0;
  if (comm.hosts != nullptr && (reducer.commutative || comm.hosts->consecutive())) {
    const ByHost by_host(*comm.hosts, top);
    collect(way, by_host.ours, mine, spare, count, reducer, by_host.leader);
    if (by_host.leads()) collect(way, by_host.leaders, mine, spare, count, reducer, by_host.root_host);
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

// Reduced at rank 0 in the order of ranks, then handed out.
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
  void* result = comm.rank == 0 ? way.elements(type, total) : nullptr;
  if (comm.rank == 0 && result == nullptr) return;
  reduce(way, send, result, total, reducer, 0);
  way.fence();
  scatter(way, Blocks(result, counts, Array(starts), type), elements_at(receive, counts[comm.rank], reducer), 0);
}

template void reduce(Schedule& way, const void* send, void* receive, int64_t count, const Reducer& reducer,
                     int32_t root);
template void reduce_scatter(Schedule& way, const void* send, void* receive, const Array& counts,
                             const Reducer& reducer);

}  // namespace plan

int32_t reduce(Comm& comm, const void* send, void* receive, int64_t count, const Reducer& reducer, int32_t root) {
  Channel channel(comm, Tag::reduce);
  plan::reduce(channel, send, receive, count, reducer, root);
  return channel.finish();
}

int32_t reduce_scatter(Comm& comm, const void* send, void* receive, const Array& counts, const Reducer& reducer) {
  Channel channel(comm, Tag::reduce);
  plan::reduce_scatter(channel, send, receive, counts, reducer);
  return channel.finish();
}

}  // namespace weft::coll
