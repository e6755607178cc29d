// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What the argument `reorder` of MPI_Cart_create does.

#include <string>
#include <vector>

#include "mpi/topo/topology.hpp"

namespace weft::mpi {

struct Reordering {
  std::vector<int32_t> members;  // by rank of the grid, the rank of the old communicator; empty: as it was
  int32_t rank = -1;             // of the calling process in the grid, with `members`
  std::string text;              // what was gained, for people
};

// Collective on `comm`, whose first ranks make the grid. Asks all for the part of the machine they are bound to. The
// order stays when ranks are not bound, when all share one domain, and when nothing is gained. Returns an error code,
// already raised.
[[nodiscard]] int choose_order(const char* function, Comm& comm, const Grid& grid, Reordering& order);

}  // namespace weft::mpi
