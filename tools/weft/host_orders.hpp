// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Orders of ranks on hosts for the traffic of a run, and what each is worth.

#include <string>
#include <vector>

#include "weft/grid_find.hpp"
#include "weft/traffic.hpp"

namespace weft::tool {

enum class Metric : uint8_t {
  sent,    // few bytes leave the hosts
  time,    // ranks that compute share hosts with ranks that communicate: hosts compute equally long
  hybrid,  // both: the share of the bytes that leaves, and the excess of the busiest host over the mean
};

struct HostOrder {
  const char* name = "";        // Custom, SMP, Fold, RoundRobin
  int method = 0;               // of WEFT_RANK_REORDER_METHOD
  std::vector<int32_t> ranks;   // by slot
  int64_t bytes = 0;            // that stay on a host
  double busiest = 0;           // user seconds of the ranks of the host that has most
  std::vector<int64_t> inside;  // bytes that stay in a part of a host, for each level
};

struct OrderTable {
  std::vector<int32_t> hosts;  // ranks of each
  std::vector<HostOrder> orders;
  std::string custom;         // how the first of them was made
  std::vector<int32_t> cell;  // of the grid, by rows, when Custom is made of cells; empty: it is not
  double mean = 0;            // user seconds of a host
};

// Hosts of so many ranks each, the last one may have fewer.
[[nodiscard]] std::vector<int32_t> equal_hosts(int32_t ranks, int32_t per_host);

// `levels`: ranks of the parts of a host, such as its NUMA domains, then of the parts of these. The times of all ranks
// are there when the metric needs them.
[[nodiscard]] OrderTable compare_orders(const Traffic& traffic, const FoundGrid& grid, std::vector<int32_t> hosts,
                                        const std::vector<int32_t>& levels, Metric metric);

}  // namespace weft::tool
