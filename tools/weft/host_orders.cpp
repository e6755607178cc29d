// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/host_orders.hpp"

#include <algorithm>
#include <numeric>

#include "boot/job/rank_order.hpp"
#include "mpi/topo/grid_order.hpp"
#include "weft/balance.hpp"
#include "weft/grid_plan.hpp"
#include "weft/partition.hpp"

namespace weft::tool {
namespace {

using Ranks = std::vector<int32_t>;

Ranks hosts_by_slot(const Ranks& hosts) {
  Ranks of_slot;
  for (size_t h = 0; h < hosts.size(); ++h)
    of_slot.insert(of_slot.end(), static_cast<size_t>(hosts[h]), static_cast<int32_t>(h));
  return of_slot;
}

// By rank, the host, or another part of the machine, that its slot is in.
Ranks places(const Ranks& ranks, const Ranks& of_slot) {
  Ranks of_rank(ranks.size());
  for (size_t slot = 0; slot < ranks.size(); ++slot) of_rank[static_cast<size_t>(ranks[slot])] = of_slot[slot];
  return of_rank;
}

int64_t bytes_inside(const Traffic& traffic, const Ranks& place_of_rank) {
  int64_t bytes = 0;
  for (int32_t r = 0; r < traffic.ranks; ++r) {
    for (const Link& link : traffic.of(r)) {
      if (link.to > r && place_of_rank[static_cast<size_t>(link.to)] == place_of_rank[static_cast<size_t>(r)])
        bytes += link.bytes;
    }
  }
  return bytes;
}

// Parts of `size` slots in each host or part, of which `around` has the numbers.
Ranks parts_by_slot(const Ranks& around, int32_t size) {
  Ranks of_slot(around.size());
  int32_t part = -1;
  int32_t in_part = 0;
  for (size_t slot = 0; slot < around.size(); ++slot) {
    if (slot == 0 || around[slot] != around[slot - 1] || in_part == size) {
      ++part;
      in_part = 0;
    }
    of_slot[slot] = part;
    ++in_part;
  }
  return of_slot;
}

bool all_equal(const Ranks& hosts) {
  return std::all_of(hosts.begin(), hosts.end() - 1, [&](int32_t ranks) { return ranks == hosts[0]; }) &&
         hosts.back() <= hosts[0];
}

// The cell whose ranks exchange most bytes with each other; empty when none tiles the grid.
std::vector<int32_t> best_cell(const FoundGrid& found, const mpi::Grid& grid, int32_t per_host) {
  std::vector<int32_t> best;
  double most = -1;
  mpi::each_tile(grid, per_host, [&](const std::vector<int32_t>& sides) {
    double bytes = 0;  // for each rank
    for (size_t d = 0; d < sides.size(); ++d) {
      const Dimension& dimension = found.dimensions[d];
      const bool whole = sides[d] == dimension.side && dimension.periodic;
      bytes += dimension.weight * (sides[d] - (whole ? 0 : 1)) / sides[d];
    }
    if (bytes <= most) return;
    most = bytes;
    best = sides;
  });
  return best;
}

// The candidates for Custom; the first of equals wins.
class Search {
 public:
  Search(const Traffic& traffic, const Ranks& hosts) : traffic_(traffic), of_slot_(hosts_by_slot(hosts)) {}

  void consider(Ranks ranks, const std::string& how, const std::vector<int32_t>& cell = {}) {
    const int64_t bytes = bytes_inside(traffic_, places(ranks, of_slot_));
    if (bytes <= most_) return;
    most_ = bytes;
    best = std::move(ranks);
    made = how;
    cell_sides = cell;
  }

  Ranks best;
  std::string made;
  std::vector<int32_t> cell_sides;

 private:
  const Traffic& traffic_;
  Ranks of_slot_;
  int64_t most_ = -1;
};

void consider_cells(Search& search, const FoundGrid& found, const Ranks& hosts) {
  constexpr size_t most_dimensions = 8;  // of weft order -g
  if (found.dimensions.empty() || found.dimensions.size() > most_dimensions || !all_equal(hosts)) return;
  GridPlan plan;
  for (const Dimension& d : found.dimensions) {
    plan.grid.dims.push_back(d.side);
    plan.grid.periods.push_back(d.periodic ? 1 : 0);
  }
  plan.per_host = hosts[0];
  plan.cell = best_cell(found, plan.grid, plan.per_host);
  make_plan(plan);
  Ranks ranks;
  for (const Ranks& line : plan.lines) ranks.insert(ranks.end(), line.begin(), line.end());
  const std::vector<int32_t> cell = plan.cell;
  search.consider(std::move(ranks), cell.empty() ? "parts of the grid" : "cells of " + shown_sides(cell, " x "), cell);
}

// Puts the ranks of each part together that exchange most.
void order_inside(const Traffic& traffic, Ranks& ranks, const Ranks& around, const Ranks& of_slot) {
  for (size_t from = 0; from < ranks.size();) {
    size_t to = from;
    Ranks sizes;
    for (; to < ranks.size() && around[to] == around[from]; ++to) {
      if (to == from || of_slot[to] != of_slot[to - 1]) sizes.push_back(0);
      ++sizes.back();
    }
    const auto begin = ranks.begin() + static_cast<std::ptrdiff_t>(from);
    const Ranks mine(begin, ranks.begin() + static_cast<std::ptrdiff_t>(to));
    const Ranks divided = partition(traffic, mine, sizes);
    std::copy(divided.begin(), divided.end(), begin);
    from = to;
  }
}

double busiest_host(const Traffic& traffic, const Ranks& ranks, const Ranks& of_slot) {
  if (traffic.user_seconds.empty()) return 0;
  std::vector<double> seconds(static_cast<size_t>(of_slot.back()) + 1);
  for (size_t slot = 0; slot < ranks.size(); ++slot) {
    seconds[static_cast<size_t>(of_slot[slot])] += traffic.user_seconds[static_cast<size_t>(ranks[slot])];
  }
  return *std::max_element(seconds.begin(), seconds.end());
}

}  // namespace

std::vector<int32_t> equal_hosts(int32_t ranks, int32_t per_host) {
  std::vector<int32_t> hosts(static_cast<size_t>(ranks / per_host), per_host);
  if (ranks % per_host != 0) hosts.push_back(ranks % per_host);
  return hosts;
}

OrderTable compare_orders(const Traffic& traffic, const FoundGrid& grid, std::vector<int32_t> hosts,
                          const std::vector<int32_t>& levels, Metric metric) {
  OrderTable table;
  table.hosts = std::move(hosts);
  Ranks as_placed(static_cast<size_t>(traffic.ranks));
  std::iota(as_placed.begin(), as_placed.end(), 0);
  const Ranks of_slot = hosts_by_slot(table.hosts);

  Search search(traffic, table.hosts);
  table.orders.push_back({.name = "Custom", .method = 3, .ranks = {}, .inside = {}});
  for (const auto& [name, method] : {std::pair("SMP", boot::RankOrder::smp), std::pair("Fold", boot::RankOrder::folded),
                                     std::pair("RoundRobin", boot::RankOrder::round_robin)}) {
    HostOrder order{.name = name, .method = static_cast<int>(method), .ranks = {}, .inside = {}};
    base::Problem none;  // that is of files alone
    if (!boot::reorder(method, of_slot, order.ranks, none)) continue;
    search.consider(order.ranks, std::string("the order of ") + name);
    table.orders.push_back(std::move(order));
  }
  consider_cells(search, grid, table.hosts);
  if (can_partition() && table.hosts.size() > 1) {
    Ranks ranks = partition(traffic, as_placed, table.hosts);
    if (!ranks.empty()) search.consider(std::move(ranks), "parts of the graph, by METIS");
  }
  table.custom = search.made;
  table.cell = search.cell_sides;
  Ranks custom = std::move(search.best);
  if (metric != Metric::sent) {
    custom = metric == Metric::time ? balance_hosts(traffic, table.hosts) : trade_hosts(traffic, table.hosts, custom);
    table.custom = metric == Metric::time ? "ranks that compute much beside ranks that compute little"
                                          : table.custom + ", with ranks exchanged between busy hosts and idle ones";
    table.cell.clear();
  }

  std::vector<Ranks> of_slot_at;  // for each level
  for (const int32_t size : levels) {
    const Ranks& around = of_slot_at.empty() ? of_slot : of_slot_at.back();
    Ranks inner = parts_by_slot(around, size);
    Ranks ordered = custom;
    order_inside(traffic, ordered, around, inner);
    if (bytes_inside(traffic, places(ordered, inner)) > bytes_inside(traffic, places(custom, inner))) {
      custom = std::move(ordered);
      table.cell.clear();
    }
    of_slot_at.push_back(std::move(inner));
  }

  table.orders[0].ranks = std::move(custom);
  for (HostOrder& order : table.orders) {
    order.bytes = bytes_inside(traffic, places(order.ranks, of_slot));
    for (const Ranks& parts : of_slot_at) order.inside.push_back(bytes_inside(traffic, places(order.ranks, parts)));
    order.busiest = busiest_host(traffic, order.ranks, of_slot);
  }
  table.mean = std::accumulate(traffic.user_seconds.begin(), traffic.user_seconds.end(), 0.0) /
               static_cast<double>(table.hosts.size());
  return table;
}

}  // namespace weft::tool
