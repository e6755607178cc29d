// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The algorithms of collective operations, written once for both ways to run them. A plan names the steps of one rank
// to a Way: a Channel (coll/plan/channel.hpp) performs each step as it is named, which is how blocking operations run;
// a Schedule (coll/plan/schedule.hpp) records the steps and performs them later, as often as it is started.
//
// A Way has:
//   Comm& comm()                           the communicator of the steps that follow
//   send(block, rank), receive(block, rank), or to and from a Member (coll/plan/team.hpp)
//   fence()                                the steps behind it wait for all sends and receives before it
//   copy(from, to), reduce(reducer, in, inout, count)      at once, in the order of the steps
//   void* bytes(n), elements(type, count)  memory that lives as long as the Way; nullptr, and an error: none left
//   note_error(error)
// So a plan reads no data and decides by ranks, counts, types and the table of algorithms (coll/select/select.hpp)
// alone. A rank names its sends to another rank in the order in which that rank names its receives from it.

#include "coll/plan/block.hpp"
#include "coll/plan/reducer.hpp"
#include "coll/select/select.hpp"
#include "core/protocol/p2p.hpp"

namespace weft::coll::plan {

template <class Way>
void barrier(Way& way);
template <class Way>
void bcast(Way& way, const Block& data, int32_t root);

// The root alone uses the data of `all`; whether it is regular(), and then the blocks' bytes, are the same on all
// ranks.
template <class Way>
void gather(Way& way, const Block& mine, const Blocks& all, int32_t root);
template <class Way>
void scatter(Way& way, const Blocks& all, const Block& mine, int32_t root);
template <class Way>
void allgather(Way& way, const Block& mine, const Blocks& all);
template <class Way>
void alltoall(Way& way, const Blocks& from, const Blocks& to);

// Reductions. In place: `send` is `receive`.
template <class Way>
void reduce(Way& way, const void* send, void* receive, int64_t count, const Reducer& reducer, int32_t root);
template <class Way>
void allreduce(Way& way, const void* send, void* receive, int64_t count, const Reducer& reducer);
template <class Way>
void reduce_scatter(Way& way, const void* send, void* receive, const Array& counts, const Reducer& reducer);
template <class Way>
void scan(Way& way, const void* send, void* receive, int64_t count, const Reducer& reducer);
template <class Way>
void exscan(Way& way, const void* send, void* receive, int64_t count, const Reducer& reducer);

// `count` elements of the reducer's type.
inline Block elements_at(const void* data, int64_t count, const Reducer& reducer) {
  return {const_cast<void*>(data), count, reducer.type};
}

}  // namespace weft::coll::plan
