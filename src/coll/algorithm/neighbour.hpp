// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Plans of neighbourhood collectives (MPI-5.0, 8.6): blocks to and from each neighbour in a virtual topology. Blocks
// are numbered by the lists of neighbours; those of proc_null stay as they are.

#include "coll/plan/schedule.hpp"
#include "core/object/neighbours.hpp"

namespace weft::coll {

using core::Neighbours;

// One block to all destinations.
void neighbour_allgather(Schedule& s, const Neighbours& neighbours, const Block& mine, const Blocks& to);
// A block to each.
void neighbour_alltoall(Schedule& s, const Neighbours& neighbours, const Blocks& from, const Blocks& to);

}  // namespace weft::coll
