// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "topo/placement.hpp"

#include <algorithm>

#include "base/setting.hpp"

namespace weft::topo {
namespace {

using base::CpuSet;

// Dealt out whole: a core, one hardware thread, or several of either.
struct PlacementUnit {
  std::vector<int> processors;
  int cache;
};
using Domains = std::vector<std::vector<PlacementUnit>>;

Domains units_by_domain(const Machine& machine, bool threads) {
  Domains domains(static_cast<size_t>(machine.domains));
  for (const Core& core : machine.cores) {
    std::vector<PlacementUnit>& units = domains[static_cast<size_t>(core.domain)];
    if (!threads)
      units.push_back({core.processors, core.cache});
    else {
      for (int cpu : core.processors) units.push_back({{cpu}, core.cache});
    }
  }
  return domains;
}

CpuSet set_of(const std::vector<PlacementUnit>& units, size_t from, size_t count) {
  CpuSet set;
  for (size_t i = from; i < from + count && i < units.size(); ++i) {
    for (int cpu : units[i].processors) set.add(cpu);
  }
  return set;
}

// Ranks per domain in proportion to the domains' capacities (largest remainder), never more than a domain has.
std::vector<size_t> ranks_per_domain(const std::vector<size_t>& sizes, size_t ranks) {
  size_t total = 0;
  for (size_t size : sizes) total += size;
  std::vector<size_t> share(sizes.size());
  size_t given = 0;
  for (size_t d = 0; d < sizes.size(); ++d) given += share[d] = ranks * sizes[d] / total;
  for (; given < ranks; ++given) {
    size_t best = sizes.size();
    for (size_t d = 0; d < sizes.size(); ++d) {
      // This domain's distance from its exact share, in units of 1/total.
      auto lacks = [&](size_t i) {
        return static_cast<long long>(ranks * sizes[i]) - static_cast<long long>(share[i] * total);
      };
      if (share[d] < sizes[d] && (best == sizes.size() || lacks(d) > lacks(best))) best = d;
    }
    ++share[best];
  }
  return share;
}

// Whole domains for each rank, when there are more domains than ranks.
void deal_domains(const Domains& domains, size_t ranks, Placement& out) {
  for (size_t rank = 0; rank < ranks; ++rank) {
    CpuSet set;
    for (size_t d = rank * domains.size() / ranks; d < (rank + 1) * domains.size() / ranks; ++d) {
      set.add(set_of(domains[d], 0, domains[d].size()));
    }
    out.sets.push_back(set);
  }
}

std::vector<size_t> sizes_of(const Domains& domains) {
  std::vector<size_t> sizes;
  sizes.reserve(domains.size());
  for (const auto& units : domains) sizes.push_back(units.size());
  return sizes;
}

// The units of each rank, `each` at most; neighbouring ranks are in the same domain.
void deal_units(const Domains& domains, size_t ranks, size_t each, Placement& out) {
  const std::vector<size_t> sizes = sizes_of(domains);
  const std::vector<size_t> share = ranks_per_domain(sizes, ranks);
  for (size_t d = 0; d < domains.size(); ++d) {
    for (size_t i = 0; i < share[d]; ++i) {
      const size_t from = i * sizes[d] / share[d];
      out.sets.push_back(set_of(domains[d], from, std::min(each, (i + 1) * sizes[d] / share[d] - from)));
    }
  }
}

// Returns how many units each rank can have: equal shares make ranks with threads as fast as each other.
size_t equal_share(const Domains& domains, size_t ranks) {
  const std::vector<size_t> sizes = sizes_of(domains);
  const std::vector<size_t> share = ranks_per_domain(sizes, ranks);
  size_t least = SIZE_MAX;
  for (size_t d = 0; d < domains.size(); ++d) {
    if (share[d]) least = std::min(least, sizes[d] / share[d]);
  }
  return least;
}

// One unit for each rank, and each unit for several ranks; neighbouring ranks are in the same domain.
void deal_in_turn(const Domains& domains, size_t ranks, Placement& out) {
  const std::vector<size_t> sizes = sizes_of(domains);
  size_t total = 0;
  for (size_t size : sizes) total += size;
  std::vector<size_t> room = sizes;
  for (size_t& places : room) places *= (ranks + total - 1) / total;
  const std::vector<size_t> share = ranks_per_domain(room, ranks);
  for (size_t d = 0; d < domains.size(); ++d) {
    for (size_t i = 0; i < share[d]; ++i) out.sets.push_back(set_of(domains[d], i % sizes[d], 1));
  }
}

// Units in blocks of `each`; with `by_cache` none of them lies at two caches.
Domains blocks_of(const Domains& domains, size_t each, bool by_cache) {
  Domains out(domains.size());
  for (size_t d = 0; d < domains.size(); ++d) {
    PlacementUnit block{{}, -1};
    size_t held = 0;
    for (const PlacementUnit& unit : domains[d]) {
      if (by_cache && unit.cache != block.cache) held = 0;
      if (held == 0) block = {{}, unit.cache};
      block.processors.insert(block.processors.end(), unit.processors.begin(), unit.processors.end());
      if (++held < each) continue;
      out[d].push_back(block);
      held = 0;
    }
  }
  return out;
}

// `each` units that are near each other for every rank; false when there are not as many.
bool deal_blocks(const Domains& domains, size_t ranks, size_t each, Placement& out) {
  const auto deal = [&](const Domains& blocks) {
    size_t count = 0;
    for (const auto& of_domain : blocks) count += of_domain.size();
    if (count < ranks) return false;
    deal_units(blocks, ranks, 1, out);
    return true;
  };
  Domains all(1);
  for (const auto& units : domains) all[0].insert(all[0].end(), units.begin(), units.end());
  return deal(blocks_of(domains, each, true)) || deal(blocks_of(domains, each, false)) ||
         deal(blocks_of(all, each, false));
}

enum class Shares : bool { whole, equal };

void deal_cores(const Machine& machine, size_t ranks, Shares shares, Placement& out) {
  const bool hardware_threads = ranks > machine.cores.size();
  const Domains domains = units_by_domain(machine, hardware_threads);
  if (ranks > static_cast<size_t>(machine.allowed.count()))
    deal_in_turn(domains, ranks, out);
  else if (ranks < domains.size())
    deal_domains(domains, ranks, out);
  else
    deal_units(domains, ranks, shares == Shares::equal ? equal_share(domains, ranks) : SIZE_MAX, out);
}

// The units that the set has all of.
std::vector<PlacementUnit> units_in(const Domains& domains, const CpuSet& set) {
  std::vector<PlacementUnit> units;
  for (const auto& of_domain : domains) {
    for (const PlacementUnit& unit : of_domain) {
      if (std::all_of(unit.processors.begin(), unit.processors.end(), [&](int cpu) { return set.has(cpu); })) {
        units.push_back(unit);
      }
    }
  }
  return units;
}

// `each` units of every rank's share, at even distances in the order of domains and caches; false when a share has
// fewer.
bool deal_spread(const Domains& domains, const std::vector<CpuSet>& shares, size_t each, Placement& out) {
  std::vector<CpuSet> sets;
  for (const CpuSet& share : shares) {
    const std::vector<PlacementUnit> units = units_in(domains, share);
    if (units.size() < each) return false;
    CpuSet& set = sets.emplace_back();
    for (size_t i = 0; i < each; ++i) set.add(set_of(units, i * units.size() / each, 1));
  }
  out.sets = std::move(sets);
  return true;
}

// A core for each thread of each rank, or a hardware thread.
bool deal_threads(const Machine& machine, size_t ranks, size_t threads, Binding binding, Placement& out) {
  if (ranks * threads > static_cast<size_t>(machine.allowed.count())) return false;
  Placement shares;
  if (binding == Binding::core) deal_cores(machine, ranks, Shares::whole, shares);
  for (const bool hardware_threads : {false, true}) {
    const Domains domains = units_by_domain(machine, hardware_threads);
    if (!(binding == Binding::core && deal_spread(domains, shares.sets, threads, out)) &&
        !deal_blocks(domains, ranks, threads, out)) {
      continue;
    }
    out.places = hardware_threads ? Places::threads : Places::cores;
    return true;
  }
  return false;
}

void deal_numa(const Machine& machine, size_t ranks, Placement& out) {
  auto domains = units_by_domain(machine, true);
  for (size_t rank = 0; rank < ranks; ++rank) {
    const auto& units = domains[rank * domains.size() / ranks];
    out.sets.push_back(set_of(units, 0, units.size()));
  }
}

void deal_list(const Machine& machine, size_t ranks, const std::vector<CpuSet>& sets, Placement& out) {
  for (size_t rank = 0; rank < ranks; ++rank) {
    const CpuSet& set = sets[rank % sets.size()];
    if (set.both(machine.allowed) != set) {
      out.wrong = "processors " + base::shown_cpu_list(set) + " are not all among those this process may use (" +
                  base::shown_cpu_list(machine.allowed) + ")";
      return;
    }
    out.sets.push_back(set);
  }
}

// Takes so many cores out of the machine; one is left at least, and no domain or cache without a core.
CpuSet reserve_cores(Machine& machine, int count) {
  CpuSet reserved;
  for (; count > 0 && machine.cores.size() > 1; --count) {
    std::vector<size_t> last(static_cast<size_t>(machine.domains));
    std::vector<size_t> sizes(last.size());
    for (size_t i = 0; i < machine.cores.size(); ++i) {
      const auto domain = static_cast<size_t>(machine.cores[i].domain);
      last[domain] = i;
      ++sizes[domain];
    }
    const auto most = std::max_element(sizes.rbegin(), sizes.rend());
    const auto core =
        machine.cores.begin() + static_cast<ptrdiff_t>(last[static_cast<size_t>(sizes.rend() - most - 1)]);
    for (int cpu : core->processors) {
      reserved.add(cpu);
      machine.allowed.remove(cpu);
    }
    machine.cores.erase(core);
    renumber(machine);
  }
  return reserved;
}

Placement place_on(const Machine& machine, int ranks, const BindingRequest& request) {
  Placement out;
  if (ranks < 1) return out;
  size_t count = static_cast<size_t>(ranks);
  size_t processors = static_cast<size_t>(machine.allowed.count());
  out.cores = std::max(1, static_cast<int>(machine.cores.size()));
  out.cpus = std::max(1, static_cast<int>(processors));
  if (machine.quota) {
    out.cpus = std::min(out.cpus, machine.quota);
    out.cores = std::min(out.cores, machine.quota);
  }
  out.crowded = ranks > out.cpus;
  if (machine.cores.empty()) {
    out.sets.resize(count);
    return out;
  }
  switch (request.binding) {
    case Binding::none:
      break;
    case Binding::numa:
      deal_numa(machine, count, out);
      break;
    case Binding::list: {
      deal_list(machine, count, request.sets, out);
      CpuSet used;
      for (const CpuSet& set : out.sets) used.add(set);
      int listed = used.count();
      if (listed > 0) out.cpus = std::min(out.cpus, listed);
      out.crowded = ranks > out.cpus;
      break;
    }
    case Binding::core:
    case Binding::pack:
      if (request.threads == 0 ||
          !deal_threads(machine, count, static_cast<size_t>(request.threads), request.binding, out)) {
        deal_cores(machine, count, Shares::equal, out);
      }
      break;
  }
  out.sets.resize(count);
  return out;
}

}  // namespace

const char* name_of(Binding binding) {
  switch (binding) {
    case Binding::pack:
      return "pack";
    case Binding::numa:
      return "numa";
    case Binding::none:
      return "none";
    case Binding::list:
      return "list";
    case Binding::core:
      break;
  }
  return "core";
}

std::string parse_binding(std::string_view text, BindingRequest& request) {
  BindingRequest out = request;
  out.sets.clear();
  if (text == "core")
    out.binding = Binding::core;
  else if (text == "pack")
    out.binding = Binding::pack;
  else if (text == "numa")
    out.binding = Binding::numa;
  else if (text == "none")
    out.binding = Binding::none;
  else {
    constexpr size_t most_sets = 65536;
    constexpr size_t longest = 1 << 20;
    if (text.size() > longest) return "the list is too long";
    if (text.empty() || text[0] < '0' || text[0] > '9') {
      return base::quoted(text) + " is not core, pack, numa, none or a list of processors such as 0-3,8:4-7";
    }
    out.binding = Binding::list;
    for (;;) {
      size_t colon = text.find(':');
      CpuSet set;
      std::string wrong = base::parse_cpu_list(text.substr(0, colon), set);
      if (!wrong.empty()) return wrong;
      if (out.sets.size() == most_sets) return "the list is too long";
      out.sets.push_back(set);
      if (colon == std::string_view::npos) break;
      text.remove_prefix(colon + 1);
    }
  }
  request = std::move(out);
  return {};
}

Placement place(const Machine& machine, int ranks, const BindingRequest& request) {
  if (request.reserve == 0) return place_on(machine, ranks, request);
  if (static_cast<size_t>(request.reserve) >= machine.cores.size()) {
    Placement none;
    none.sets.resize(static_cast<size_t>(std::max(ranks, 0)));
    none.wrong = std::to_string(request.reserve) + " of " + std::to_string(machine.cores.size()) +
                 " cores are to be reserved, and ranks need one";
    return none;
  }
  Machine rest = machine;
  const CpuSet reserved = reserve_cores(rest, request.reserve);
  Placement out = place_on(rest, ranks, request);
  out.reserved = reserved;
  for (CpuSet& set : out.sets) {
    if (set.empty()) set = rest.allowed;
  }
  return out;
}

CpuSet service_set(const Machine& machine, const Placement& placement, size_t rank) {
  CpuSet near;
  CpuSet domains;  // those of the rank, as numbers in a set
  for (const bool collects : {true, false}) {
    for (const Core& core : machine.cores) {
      for (int cpu : core.processors) {
        if (collects && placement.sets[rank].has(cpu)) domains.add(core.domain);
        if (!collects && placement.reserved.has(cpu) && domains.has(core.domain)) near.add(cpu);
      }
    }
  }
  return near.empty() ? placement.reserved : near;
}

}  // namespace weft::topo
