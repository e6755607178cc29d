// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/grid_plan.hpp"

#include <algorithm>
#include <utility>

#include "mpi/topo/grid_order.hpp"

namespace weft::tool {
namespace {

using Sides = std::vector<int32_t>;
using Lines = std::vector<std::vector<int32_t>>;

// The cost of a cell: the off-node neighbours of the host that has most, then the links that are cut in all.
std::pair<int64_t, int64_t> cost_of(const mpi::Grid& grid, const Sides& cell, int32_t per_host) {
  int64_t most = 0;
  int64_t links = 0;
  for (size_t d = 0; d < cell.size(); ++d) {
    const int64_t cells = grid.dims[d] / cell[d];
    most += std::min<int64_t>(cells - 1, 2) * (per_host / cell[d]);
    links += (cells - 1) * (grid.size() / grid.dims[d]);
  }
  return {most, links};
}

void find_cell(GridPlan& plan) {
  std::pair<int64_t, int64_t> least;
  mpi::each_tile(plan.grid, plan.per_host, [&](const Sides& sides) {
    const auto cost = cost_of(plan.grid, sides, plan.per_host);
    if (plan.shapes++ > 0 && cost >= least) return;
    least = cost;
    plan.cell = sides;
  });
}

// Cells at the grid's end are smaller when they do not fit.
Lines lines_of_cells(const mpi::Grid& grid, const Sides& cell) {
  size_t cells = 1;
  for (size_t d = 0; d < cell.size(); ++d) cells *= static_cast<size_t>((grid.dims[d] - 1) / cell[d] + 1);
  Lines lines(cells);
  Sides at(cell.size());
  for (int32_t place = 0; place < grid.size(); ++place) {
    grid.coords_of(place, at.data());
    int32_t number = 0;
    for (size_t d = 0; d < cell.size(); ++d) number = number * ((grid.dims[d] - 1) / cell[d] + 1) + at[d] / cell[d];
    lines[static_cast<size_t>(number)].push_back(place);
  }
  return lines;
}

// A part of the grid for each host, as MPI_Cart_create would reorder ranks that are placed row by row.
Lines lines_of_parts(const GridPlan& plan) {
  Sides hosts;
  for (int32_t place = 0; place < plan.grid.size(); ++place) hosts.push_back(place / plan.per_host);
  const std::vector<int32_t> slot_of_place = mpi::order_for_domains(plan.grid, hosts);
  Lines lines(static_cast<size_t>(plan.hosts));
  for (int32_t place = 0; place < plan.grid.size(); ++place) {
    const int32_t slot = slot_of_place.empty() ? place : slot_of_place[static_cast<size_t>(place)];
    lines[static_cast<size_t>(slot / plan.per_host)].push_back(place);
  }
  return lines;
}

}  // namespace

int32_t GridPlan::rank_at(int32_t place) const {
  if (!by_columns) return place;
  int32_t rank = 0;
  for (size_t d = grid.dims.size(); d-- > 0; place /= grid.dims[d]) rank = rank * grid.dims[d] + place % grid.dims[d];
  return rank;
}

void make_plan(GridPlan& plan) {
  const int32_t size = plan.grid.size();
  if (plan.per_host == 0) {
    if (plan.cell.empty()) {
      plan.cell.assign(plan.grid.dims.size(), 1);
      plan.cell.back() = plan.grid.dims.back();
    }
    plan.lines = lines_of_cells(plan.grid, plan.cell);
    return;
  }
  plan.per_host = std::min(plan.per_host, size);
  plan.hosts = (size - 1) / plan.per_host + 1;
  if (plan.cell.empty()) find_cell(plan);
  plan.lines = plan.cell.empty() ? lines_of_parts(plan) : lines_of_cells(plan.grid, plan.cell);
  plan.host_of_place.resize(static_cast<size_t>(size));
  int32_t slot = 0;
  for (const auto& line : plan.lines) {
    for (const int32_t place : line) plan.host_of_place[static_cast<size_t>(place)] = slot++ / plan.per_host;
  }
}

Neighbours count_neighbours(const GridPlan& plan) {
  Neighbours found;
  std::vector<int64_t> off_node(static_cast<size_t>(plan.hosts));
  const int32_t size = plan.grid.size();
  int32_t stride = 1;
  for (size_t d = plan.grid.dims.size(); d-- > 0; stride *= plan.grid.dims[d]) {
    for (int32_t place = 0; place < size; ++place) {
      if (place / stride % plan.grid.dims[d] + 1 == plan.grid.dims[d]) continue;
      const int32_t next = place + stride;
      const auto host = static_cast<size_t>(plan.host_of_place[static_cast<size_t>(place)]);
      const auto other = static_cast<size_t>(plan.host_of_place[static_cast<size_t>(next)]);
      if (host == other) {
        found.on_node += 2;
      } else {
        found.off_node += 2;
        ++off_node[host];
        ++off_node[other];
      }
    }
  }
  found.most = *std::max_element(off_node.begin(), off_node.end());
  return found;
}

std::string shown_sides(const std::vector<int32_t>& sides, const char* between) {
  std::string text;
  for (const int32_t side : sides) text += (text.empty() ? "" : between) + std::to_string(side);
  return text;
}

}  // namespace weft::tool
