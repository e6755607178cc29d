// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/placement_gain.hpp"

#include <cstdio>

#include "base/bytes.hpp"
#include "weft/grid_find.hpp"
#include "weft/grid_plan.hpp"
#include "weft/host_orders.hpp"

namespace weft::tool {
namespace {

constexpr double worth_bytes = 0.1;  // of the bytes

double share(int64_t part, int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

// Bytes between ranks of the same host.
int64_t bytes_on_hosts(const Traffic& traffic, const std::vector<int64_t>& host_of) {
  int64_t bytes = 0;
  for (int32_t rank = 0; rank < traffic.ranks; ++rank) {
    for (const Link& link : traffic.of(rank)) {
      const bool once = rank < link.to;
      if (once && host_of[static_cast<size_t>(rank)] == host_of[static_cast<size_t>(link.to)]) bytes += link.bytes;
    }
  }
  return bytes;
}

// The pair that sends the most from host to host.
std::string heaviest_text(const Traffic& traffic, const std::vector<int64_t>& host_of) {
  int32_t from = 0;
  Link heaviest{0, 0};
  for (int32_t rank = 0; rank < traffic.ranks; ++rank) {
    for (const Link& link : traffic.of(rank)) {
      const bool leaves = host_of[static_cast<size_t>(rank)] != host_of[static_cast<size_t>(link.to)];
      if (!leaves || link.bytes <= heaviest.bytes) continue;
      from = rank;
      heaviest = link;
    }
  }
  return "ranks " + std::to_string(from) + " and " + std::to_string(heaviest.to) + " exchange " +
         base::shown_bytes(static_cast<uint64_t>(heaviest.bytes)) + " of them";
}

// The place of the calls that send the most to one rank, as far as call sites are counted.
std::string site_text(const RunStatistics& run) {
  const SiteStatistics* most = nullptr;
  for (const SiteStatistics& site : run.sites) {
    const bool sends = site.call.starts_with("MPI_Put") || site.call.starts_with("MPI_Get") ||
                       site.call.find("end") != std::string::npos;  // MPI_Send, MPI_Isend, MPI_Sendrecv and so on
    if (sends && site.bytes > 0 && (most == nullptr || site.bytes > most->bytes)) most = &site;
  }
  return most == nullptr ? "" : ", most by " + most->call + " at " + most->site;
}

// The grid in words, when there is one: " of a grid of 96 x 8".
std::string grid_text(const FoundGrid& grid) {
  std::vector<int32_t> sides;
  for (const Dimension& d : grid.dimensions) sides.push_back(d.side);
  return sides.empty() ? "" : ", which form a grid of " + shown_sides(sides, " x ");
}

}  // namespace

std::string placement_advice(const RunStatistics& run) {
  const Traffic& traffic = run.traffic;
  if (traffic.bytes == 0 || traffic.ranks_per_host.size() < 2) return {};
  if (run.by_rank.size() != static_cast<size_t>(traffic.ranks)) return {};
  std::vector<int64_t> host_of(static_cast<size_t>(traffic.ranks), -1);
  for (const RankStatistics& rank : run.by_rank) {
    if (rank.rank >= traffic.ranks) return {};
    host_of[static_cast<size_t>(rank.rank)] = rank.host;
  }
  const int64_t now = bytes_on_hosts(traffic, host_of);
  const FoundGrid grid = find_grid(traffic);
  const OrderTable table = compare_orders(traffic, grid, traffic.ranks_per_host, {}, Metric::sent);
  if (table.orders.empty() || share(table.orders[0].bytes - now, traffic.bytes) < worth_bytes) return {};
  std::string text;
  char line[400];
  snprintf(line, sizeof line, "messages between ranks%s: %s leave the hosts, %.0f %% of their bytes",
           grid_text(grid).c_str(), base::shown_bytes(static_cast<uint64_t>(traffic.bytes - now)).c_str(),
           100 * share(traffic.bytes - now, traffic.bytes));
  text.append(line).append(" (").append(heaviest_text(traffic, host_of)).append(site_text(run)).append("); ");
  snprintf(line, sizeof line, "another order of ranks would keep all but %.0f %% on them: ",
           100 * share(traffic.bytes - table.orders[0].bytes, traffic.bytes));
  return text.append(line) + "weft order --from " + run.path +
         " writes it, for WEFT_RANK_REORDER_METHOD=3 (docs/guide/rank-order.md)";
}

}  // namespace weft::tool
