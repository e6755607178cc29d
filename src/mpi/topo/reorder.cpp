// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdio>
#include <set>

#include "base/cpus.hpp"
#include "base/setting.hpp"
#include "coll/agree/agree.hpp"
#include "core/object/identity.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"
#include "mpi/topo/grid_order.hpp"
#include "mpi/topo/topology.hpp"
#include "stats/level.hpp"

namespace weft::mpi {
namespace {

constexpr int64_t as_bound = -1;

constinit base::IntSetting reorder_setting{
    {.name = "WEFT_REORDER",
     .help = "what MPI_Cart_create's reorder takes for near: -1: ranks of one NUMA node or cache, 0: never reorder, N: "
             "as if every N ranks of the job shared a node",
     .unit = base::Unit::count},
    as_bound,
    {as_bound, 1 << 20}};
WEFT_SETTING(reorder_setting);

// Where a rank is bound to; -1: it may run in several, or this is unknown.
struct RankBinding {
  int32_t host;
  int32_t node;
  int32_t cache;
};

RankBinding own_place() {
  const int64_t wanted = reorder_setting.value();
  if (wanted == 0) return {-1, -1, -1};
  if (wanted > 0) return {0, static_cast<int32_t>(core::identity->rank / wanted), -1};
  const base::CpuSet cpus = base::affinity();
  return {core::identity->job.host(), base::numa_node_of(cpus), base::last_cache_of(cpus)};
}

// The domains of the grid's ranks at one level of the machine; empty unless all are known and there are several.
std::vector<int32_t> domains_at(const std::vector<RankBinding>& places, size_t size, int32_t RankBinding::*level) {
  std::vector<int32_t> domains;
  std::set<int32_t> different;
  for (size_t r = 0; r < size; ++r) {
    const int32_t domain = places[r].*level;
    if (domain < 0) return {};
    domains.push_back(domain);
    different.insert(domain);
  }
  return different.size() > 1 ? domains : std::vector<int32_t>{};
}

std::string shown(const Grid& grid) {
  std::string text;
  for (int dim : grid.dims) text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text;
}

}  // namespace

int choose_order(const char* function, Comm& comm, const Grid& grid, Reordering& order) {
  const RankBinding mine = own_place();
  std::vector<RankBinding> places(static_cast<size_t>(comm.size));
  int32_t error = coll::gather_all(comm, &mine, sizeof mine, places.data());
  if (error != core::no_error)
    return fail(&comm, function, error, "the ranks could not tell each other where they are");
  const auto size = static_cast<size_t>(grid.size());
  const char* kind = "hosts";
  std::vector<int32_t> domains = domains_at(places, size, &RankBinding::host);
  if (domains.empty()) {
    kind = "NUMA nodes";
    domains = domains_at(places, size, &RankBinding::node);
  }
  if (domains.empty()) {
    kind = "caches";
    domains = domains_at(places, size, &RankBinding::cache);
  }
  if (domains.empty()) return MPI_SUCCESS;
  order.members = order_for_domains(grid, domains);
  if (order.members.empty()) return MPI_SUCCESS;
  std::vector<int32_t> after;
  after.reserve(size);
  for (size_t r = 0; r < size; ++r) {
    after.push_back(domains[static_cast<size_t>(order.members[r])]);
    if (order.members[r] == comm.rank) order.rank = static_cast<int32_t>(r);
  }
  order.text = shown(grid) + " grid: links between " + kind + " " +
               std::to_string(links_between_domains(grid, domains)) + " -> " +
               std::to_string(links_between_domains(grid, after));
  if (order.rank == 0 && stats::wanted_level() != stats::Level::off)
    fprintf(stderr, "Weft: MPI_Cart_create reordered a %s\n", order.text.c_str());
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
