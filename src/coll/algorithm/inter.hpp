// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Plans of collective operations on intercommunicators (MPI-5.0, 6.2.2 and 6.2.3). Ranks are those of the other group;
// steps within a group go over Comm::local, and rank 0 of each group speaks for it. A schedule must be of an
// intercommunicator.

#include "coll/plan/schedule.hpp"

namespace weft::coll::inter {

// A rank's part in an operation with a root.
struct RootPart {
  enum class RootRole : uint8_t { root, beside_root, opposite } kind = RootRole::opposite;
  int32_t root = 0;  // for those opposite the root: its rank
};

void barrier(Schedule& s);
void bcast(Schedule& s, const Block& data, const RootPart& part);
void gather(Schedule& s, const Block& mine, const Blocks& all, const RootPart& part);
void scatter(Schedule& s, const Blocks& all, const Block& mine, const RootPart& part);
void allgather(Schedule& s, const Block& mine, const Blocks& all);
void alltoall(Schedule& s, const Blocks& from, const Blocks& to);
void reduce(Schedule& s, const void* send, void* receive, int64_t count, const Reducer& reducer, const RootPart& part);
void allreduce(Schedule& s, const void* send, void* receive, int64_t count, const Reducer& reducer);
// The counts are those of our own group.
void reduce_scatter(Schedule& s, const void* send, void* receive, const Array& counts, const Reducer& reducer);

}  // namespace weft::coll::inter
