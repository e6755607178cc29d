// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Which ranks of a grid share a host, so that few neighbours lie on different hosts (docs/guide/rank-order.md).

#include <cstdint>
#include <string>
#include <vector>

#include "mpi/topo/topology.hpp"

namespace weft::tool {

// A place is a position in the grid, counted with the last coordinate changing fastest. Places are taken one by one,
// and the n-th that is taken goes to the launcher's n-th slot, host by host.
struct GridPlan {
  // Given:
  mpi::Grid grid;
  bool by_columns = false;    // ranks are numbered with the first coordinate changing fastest
  std::vector<int32_t> cell;  // sides of the boxes by which places are taken; empty: the best one is looked for
  int32_t per_host = 0;       // ranks of a host, the last one may have fewer; 0: not known, then rows are taken

  // Found by make_plan():
  int shapes = 0;                           // of cells that were compared, when the best one was looked for
  std::vector<std::vector<int32_t>> lines;  // places in the order they are taken: a line for each cell
  std::vector<int32_t> host_of_place;       // empty when per_host is not known
  int32_t hosts = 0;

  [[nodiscard]] int32_t rank_at(int32_t place) const;
};

// Without a cell, looks for the one of `per_host` ranks whose hosts have the fewest off-node neighbours; `cell` stays
// empty when no such cell tiles the grid: then hosts get parts of other shapes.
void make_plan(GridPlan& plan);

// Neighbours are ranks whose coordinates differ by one in one dimension; the grid does not wrap around. Each pair
// counts for both of its ranks, as the messages of an exchange with all neighbours do.
struct Neighbours {
  int64_t most = 0;  // off-node neighbours of the ranks of one host: of the host that has most
  int64_t off_node = 0;
  int64_t on_node = 0;
};
[[nodiscard]] Neighbours count_neighbours(const GridPlan& plan);

// "16x2x8"
[[nodiscard]] std::string shown_sides(const std::vector<int32_t>& sides, const char* between = "x");

// The plan as an SVG: a square for each rank, coloured by host, the dimensions before the last two as slices.
[[nodiscard]] std::string picture_of(const GridPlan& plan);
inline constexpr int32_t most_in_picture = 65536;  // ranks

}  // namespace weft::tool
