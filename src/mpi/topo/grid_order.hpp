// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Which rank of a Cartesian grid each process should be, so that few neighbours lie in different parts of the machine.
// Pure functions: every process computes the same from the same domains.
//
// A domain is a set of processes to whom each other's memory is near: those of a NUMA node, of a cache, of a host. Each
// gets a compact part of the grid. Two ways of cutting are tried, and the better one is taken unless the order as it is
// is as good:
//   tiles      all domains of one size: boxes of one shape, the one with the least surface
//   bisection  the domains are halved, the grid is cut in two by the plane that crosses the fewest links, and so on
// Finding the best partition of a grid is NP-hard. These two are exact where the grid and the domains are powers of
// two. The cost is some d * d * n * log(domains) steps for n ranks in d dimensions.

#include <cstdint>
#include <functional>
#include <vector>

#include "mpi/topo/topology.hpp"

namespace weft::mpi {

// Links between neighbours of the grid that lie in different domains. `domains` has one for each rank of the grid.
[[nodiscard]] int64_t links_between_domains(const Grid& grid, const std::vector<int32_t>& domains);

// Calls `visit` with each shape of a box of `size` ranks that tiles the grid: its sides by dimension.
void each_tile(const Grid& grid, int32_t size, const std::function<void(const std::vector<int32_t>& sides)>& visit);

// A better order for processes in these domains, of which process r would otherwise be rank r: members[r] is the
// process that should be rank r. Empty when the order cannot be made better.
[[nodiscard]] std::vector<int32_t> order_for_domains(const Grid& grid, const std::vector<int32_t>& domains);

}  // namespace weft::mpi
