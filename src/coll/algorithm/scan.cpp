// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <optional>
#include <type_traits>
#include <utility>

#include "coll/algorithm/chain.hpp"
#include "coll/coll.hpp"
#include "coll/plan/channel.hpp"
#include "coll/plan/plan.hpp"
#include "coll/plan/schedule.hpp"
#include "coll/select/select.hpp"
#include "coll/shm/call.hpp"
#include "coll/shm/shm_blocking.hpp"
#include "coll/shm/shm_nonblocking.hpp"

namespace weft::coll {

namespace plan {

namespace {

// Recursive doubling: `partial` covers the ranks of our subcube so far, and data from below it goes to the result.
template <class Way>
void doubling(Way& way, const void* send, void* receive, int64_t count, const Reducer& reducer, bool inclusive) {
  const Comm& comm = way.comm();
  const Type& type = *reducer.type;
  auto part = [&](const void* data) { return elements_at(data, count, reducer); };
  void* partial = way.elements(type, count);
  void* spare = way.elements(type, count);
  if (partial == nullptr || spare == nullptr) return;
  way.copy(part(send), part(partial));
  if (inclusive && send != receive) way.copy(part(send), part(receive));
  bool has_result = inclusive;
  for (int64_t bit = 1; bit < comm.size; bit *= 2) {
    const int64_t partner = comm.rank ^ bit;
    if (partner >= comm.size) continue;
    const auto other = static_cast<int32_t>(partner);
    way.receive(part(spare), other);
    way.send(part(partial), other);
    way.fence();
    if (other > comm.rank) {
      way.reduce(reducer, partial, spare, count);
      std::swap(partial, spare);
      continue;
    }
    way.reduce(reducer, spare, partial, count);
    if (has_result) {
      way.reduce(reducer, spare, receive, count);
    } else {
      way.copy(part(spare), part(receive));
      has_result = true;
    }
  }
}

template <class Way>
void prefix(Way& way, const void* send, void* receive, int64_t count, const Reducer& reducer, bool inclusive) {
  const int64_t bytes = count * reducer.type->size;
  const bool suits = way.comm().size > 1 && shm_blocking::suits(reducer);
  const Algorithms able = shm_nonblocking::able(way, false, suits ? bytes : shm_nonblocking::too_many)
                              .without(Algorithm::chain, reducer.fixed);
  const Algorithm algorithm = choose(way.comm(), Collective::scan, bytes, able);
  const auto again = [&] { prefix(way, send, receive, count, reducer, inclusive); };
  if constexpr (std::is_same_v<Way, Schedule>) {
    if (algorithm == Algorithm::shared)
      return shm_nonblocking::scan(way, send, receive, count, reducer, inclusive, again);
  }
  if (shm_nonblocking::agreed(way, Collective::scan, bytes, shm_nonblocking::no_root, again,
                              call::details_of(reducer)) ||
      bytes == 0)
    return;
  if (algorithm == Algorithm::chain) {
    return scan_chain(way, send, receive, count, reducer, inclusive);
  }
  doubling(way, send, receive, count, reducer, inclusive);
}

}  // namespace

template <class Way>
void scan(Way& way, const void* send, void* receive, int64_t count, const Reducer& reducer) {
  prefix(way, send, receive, count, reducer, true);
}

template <class Way>
void exscan(Way& way, const void* send, void* receive, int64_t count, const Reducer& reducer) {
  prefix(way, send, receive, count, reducer, false);
}

template void scan(Schedule& way, const void* send, void* receive, int64_t count, const Reducer& reducer);
template void exscan(Schedule& way, const void* send, void* receive, int64_t count, const Reducer& reducer);

}  // namespace plan

namespace {

std::optional<int32_t> in_region(Comm& comm, const void* send, void* receive, int64_t count, const Reducer& reducer,
                                 bool inclusive) {
  const int64_t bytes = count * reducer.type->size;
  const Algorithms able = shm_blocking::if_suits(bytes > 0 && shm_blocking::suits(reducer));
  return shm_blocking::in_region(
      comm, {Collective::scan, bytes, bytes, able, SharedRegion::everybody, call::details_of(reducer)},
      [&](SharedRegion& region) { return shm_blocking::scan(region, send, receive, count, reducer, inclusive); });
}

}  // namespace

int32_t scan(Comm& comm, const void* send, void* receive, int64_t count, const Reducer& reducer) {
  if (const auto result = in_region(comm, send, receive, count, reducer, true)) return *result;
  Channel channel(comm, Tag::scan);
  plan::scan(channel, send, receive, count, reducer);
  return channel.finish();
}

int32_t exscan(Comm& comm, const void* send, void* receive, int64_t count, const Reducer& reducer) {
  if (const auto result = in_region(comm, send, receive, count, reducer, false)) return *result;
  Channel channel(comm, Tag::exscan);
  plan::exscan(channel, send, receive, count, reducer);
  return channel.finish();
}

}  // namespace weft::coll
