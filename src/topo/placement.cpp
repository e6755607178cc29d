// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "topo/placement.hpp"

#include <algorithm>

#include "base/setting.hpp"

namespace weft::topo {
namespace {

using base::CpuSet;
using Unit = std::vector<int>;  // dealt out whole: the processors of a core, or one hardware thread

std::vector<std::vector<Unit>> units_by_domain(const Machine& machine, bool threads) {
  std::vector<std::vector<Unit>> domains(static_cast<size_t>(machine.domains));
  for (const Core& core : machine.cores) {
    std::vector<Unit>& units = domains[static_cast<size_t>(core.domain)];
    if (!threads)
      units.push_back(core.processors);
    else {
      for (int cpu : core.processors) units.push_back({cpu});
    }
  }
  return domains;
}

CpuSet set_of(const std::vector<Unit>& units, size_t from, size_t count) {
  CpuSet set;
  for (size_t i = from; i < from + count && i < units.size(); ++i) {
    for (int cpu : units[i]) set.add(cpu);
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
void deal_domains(const std::vector<std::vector<Unit>>& domains, size_t ranks, Placement& out) {
  for (size_t rank = 0; rank < ranks; ++rank) {
    CpuSet set;
    for (size_t d = rank * domains.size() / ranks; d < (rank + 1) * domains.size() / ranks; ++d) {
      set.add(set_of(domains[d], 0, domains[d].size()));
    }
    out.sets.push_back(set);
  }
}

// Equal numbers of units for each rank, so that ranks with threads are as fast as each other; neighbouring ranks are in
// the same domain.
void deal_units(const std::vector<std::vector<Unit>>& domains, size_t ranks, Placement& out) {
  std::vector<size_t> sizes;
  sizes.reserve(domains.size());
  for (const auto& units : domains) sizes.push_back(units.size());
  std::vector<size_t> share = ranks_per_domain(sizes, ranks);
  size_t each = SIZE_MAX;
  for (size_t d = 0; d < domains.size(); ++d) {
    if (share[d]) each = std::min(each, sizes[d] / share[d]);
  }
  for (size_t d = 0; d < domains.size(); ++d) {
    for (size_t i = 0; i < share[d]; ++i) out.sets.push_back(set_of(domains[d], i * sizes[d] / share[d], each));
  }
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

}  // namespace

std::string parse_binding(std::string_view text, BindingRequest& request) {
  BindingRequest out;
  if (text == "core")
    out.binding = Binding::core;
  else if (text == "numa")
    out.binding = Binding::numa;
  else if (text == "none")
    out.binding = Binding::none;
  else {
    constexpr size_t most_sets = 65536;
    constexpr size_t longest = 1 << 20;
    if (text.size() > longest) return "the list is too long";
    if (text.empty() || text[0] < '0' || text[0] > '9') {
      return base::quoted(text) + " is not core, numa, none or a list of processors such as 0-3,8:4-7";
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
      if (count <= machine.cores.size()) {
        auto domains = units_by_domain(machine, false);
        if (count < domains.size())
          deal_domains(domains, count, out);
        else
          deal_units(domains, count, out);
      } else if (count <= processors) {
        deal_units(units_by_domain(machine, true), count, out);
      }
      break;
  }
  out.sets.resize(count);
  return out;
}

}  // namespace weft::topo
