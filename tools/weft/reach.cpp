// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/reach.hpp"

#include <algorithm>
#include <cmath>

namespace weft::tool {
namespace {

using base::CpuSet;

constexpr double least_difference = 0.05;

topo::Placement placed(const topo::Machine& machine, const Layout& layout) {
  return topo::place(machine, layout.ranks, {.binding = layout.binding, .threads = layout.threads});
}

Reach reach_of(const topo::Machine& machine, const CpuSet& processors) {
  Reach reach;
  CpuSet caches;  // as numbers in a set
  CpuSet domains;
  for (const topo::Core& core : machine.cores) {
    const auto& own = core.processors;
    if (std::none_of(own.begin(), own.end(), [&](int cpu) { return processors.has(cpu); })) continue;
    ++reach.cores;
    caches.add(core.cache);
    domains.add(core.domain);
  }
  reach.caches = caches.count();
  reach.domains = domains.count();
  return reach;
}

bool is_slower(const LayoutResult& one, const LayoutResult& other) {
  const double difference = std::max({least_difference, one.spread, other.spread});
  return one.share < other.share * (1 - difference);
}

std::string command_of(const Layout& layout) {
  std::string text = "mpiexec -n " + std::to_string(layout.ranks) + " --threads " + std::to_string(layout.threads);
  if (layout.binding != topo::Binding::core) text.append(" --bind ").append(topo::name_of(layout.binding));
  return text;
}

std::string percent(double share) {
  return std::to_string(std::lround(100 * share)) + " %";
}

std::string shown(const LayoutResult& one, const Reach& machine) {
  const auto part = [](int have, int all, const char* what) {
    return std::to_string(have) + " of " + std::to_string(all) + " " + what;
  };
  std::string text = percent(one.share) + ", on " + part(one.reach.cores, machine.cores, "cores");
  if (machine.caches > machine.domains) text += ", " + part(one.reach.caches, machine.caches, "caches");
  if (machine.domains > 1) text += ", " + part(one.reach.domains, machine.domains, "NUMA domains");
  return text;
}

// The layout to take instead: another binding of the same, as many ranks and threads together, or the fewest that are
// as good as the best.
const LayoutResult& better_than(const LayoutResult& one, const std::vector<LayoutResult>& results,
                                const LayoutResult& fewest) {
  const auto first_of = [&](auto&& alike) {
    return std::find_if(results.begin(), results.end(),
                        [&](const LayoutResult& other) { return alike(other.layout) && is_slower(one, other); });
  };
  auto found = first_of(
      [&](const Layout& other) { return other.ranks == one.layout.ranks && other.threads == one.layout.threads; });
  if (found == results.end()) found = first_of([&](const Layout& other) { return other.all() == one.layout.all(); });
  return found != results.end() ? *found : fewest;
}

}  // namespace

Reach reach_of(const topo::Machine& machine, const Layout& layout) {
  CpuSet processors;
  for (const CpuSet& set : placed(machine, layout).sets) processors.add(set.empty() ? machine.allowed : set);
  return reach_of(machine, processors);
}

Reach reach_of(const topo::Machine& machine) {
  return reach_of(machine, machine.allowed);
}

bool is_placed_as_one_of(const topo::Machine& machine, const Layout& layout, const std::vector<Layout>& earlier) {
  const topo::Placement placement = placed(machine, layout);
  return std::any_of(earlier.begin(), earlier.end(), [&](const Layout& other) {
    if (other.ranks != layout.ranks || other.threads != layout.threads) return false;
    const topo::Placement same = placed(machine, other);
    return same.sets == placement.sets && same.places == placement.places;
  });
}

std::string advice(const std::vector<LayoutResult>& results, const Reach& machine) {
  if (results.empty()) return {};
  const LayoutResult& best = results[0];
  const LayoutResult* fewest = &best;
  for (const LayoutResult& one : results) {
    if (!is_slower(one, best) && one.layout.all() < fewest->layout.all()) fewest = &one;
  }
  std::string text = "best: " + command_of(best.layout) + " (" + shown(best, machine) + ")\n";
  if (fewest != &best) {
    text.append("as good with fewer: ").append(command_of(fewest->layout));
    text.append(" (").append(shown(*fewest, machine)).append(")\n");
  }
  for (const LayoutResult& one : results) {
    if (!is_slower(one, best)) continue;
    const LayoutResult& more = better_than(one, results, *fewest);
    text.append(one.name).append(" gets ").append(shown(one, machine)).append("\n");
    text.append("  more: ").append(command_of(more.layout)).append(" (").append(shown(more, machine)).append(")\n");
  }
  return text;
}

}  // namespace weft::tool
