// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "pages/plan.hpp"

#include <algorithm>
#include <climits>
#include <cstring>

#include "base/bytes.hpp"
#include "pages/wish.hpp"

namespace weft::pages {
namespace {

bool is_of(const Node& node, const Wish& wish) {
  if (!node.allowed) return false;
  switch (wish.affinity) {
    case Affinity::ddr:
      return node.kind == MemoryKind::ddr;
    case Affinity::hbm:
      return node.kind == MemoryKind::hbm;
    case Affinity::node:
      return node.number == wish.node;
    case Affinity::system:
      break;
  }
  return node.kind != MemoryKind::other;
}

std::string what_is_wished(const Wish& wish) {
  return wish.affinity == Affinity::node ? "NUMA node " + std::to_string(wish.node)
                                         : shown_affinity(wish.affinity, wish.node) + " memory";
}

// A mandatory wish that cannot be granted is an error, another one is remembered.
bool fall_back(const Wish& wish, const std::string& why, const char* remedy, Grant& grant) {
  if (wish.policy == Policy::mandatory) {
    grant.problem = why + ", and the policy is Mandatory: " + remedy;
    return false;
  }
  grant.fallback.append(grant.fallback.empty() ? "" : "; ").append(why);
  return true;
}

void settle_for_system(Plan& plan, Grant& grant) {
  plan.mode = PolicyMode::reset;
  plan.nodes = {};
  grant.affinity = Affinity::system;
  grant.nodes = {};
}

bool plan_nodes(const Wish& wish, const std::vector<Node>& nodes, System& system, Plan& plan, Grant& grant) {
  plan.nodes = nodes_for(wish, nodes, system.cpus(), wish.policy == Policy::interleave);
  if (plan.nodes.empty()) {
    const std::string why = nodes.empty() ? "the kernel tells of no NUMA nodes"
                                          : "this host has no " + what_is_wished(wish) +
                                                " for this process (its nodes: " + shown_kinds(nodes) + ")";
    return fall_back(wish, why, "see weft info memory, or set WEFT_MEMORY_NODES where the firmware tells no kinds",
                     grant);
  }
  plan.mode = wish.policy == Policy::mandatory    ? PolicyMode::bind
              : wish.policy == Policy::interleave ? PolicyMode::interleave
                                                  : PolicyMode::prefer;
  grant.affinity = wish.affinity;
  grant.nodes = plan.nodes;
  return true;
}

// Explicit huge pages that memory of a plan could have. A binding takes them from its nodes alone, while the kernel
// counts and reserves those of the system: without a page on its nodes a process would be killed when it touches the
// memory.
uint64_t usable(const HugePages& pages, const Plan& plan, const std::vector<Node>& nodes) {
  if (plan.mode != PolicyMode::bind) return pages.free + pages.more;
  uint64_t there = 0;
  for (const Node& node : nodes) {
    if (!plan.nodes.has(node.number)) continue;
    for (const HugePages& own : node.huge) there += own.bytes == pages.bytes ? own.free : 0;
  }
  return there > pages.reserved ? there - pages.reserved : 0;
}

bool plan_pages(const Wish& wish, uint64_t bytes, const std::vector<Node>& nodes, System& system, Plan& plan,
                Grant& grant) {
  plan.alignment = std::max({wish.alignment, wish.page, base_page});
  grant.aligned = plan.alignment;
  if (wish.page == base_page) return true;
  const Sizes sizes = system.sizes();
  const HugePages* best = nullptr;  // the largest that divides what is wished
  for (const HugePages& pages : sizes.huge) {
    if (pages.bytes <= wish.page && wish.page % pages.bytes == 0) best = &pages;
  }
  std::string why = "the system has no huge pages that divide " + shown_page(wish.page);
  if (best != nullptr) {
    const uint64_t needed = (bytes + best->bytes - 1) / best->bytes;
    const uint64_t free = usable(*best, plan, nodes);
    if (free >= needed) {
      plan.huge = grant.page = best->bytes;
      return true;
    }
    why = std::to_string(needed) + " huge pages of " + shown_page(best->bytes) + " are needed and " +
          std::to_string(plan.mode == PolicyMode::bind ? free : best->free) + " are free" +
          (plan.mode == PolicyMode::bind ? " in " + what_is_wished(wish) : "");
  }
  if (!fall_back(wish, why, "have the administrator raise vm.nr_hugepages, or ask for 4K", grant)) return false;
  if (sizes.shares_transparent() && wish.page % sizes.transparent == 0) {
    plan.transparent = grant.transparent = true;
    grant.page = sizes.transparent;
  }
  return true;
}

// Pages of the system's own size; explicit huge ones are no part of what is free.
bool has_room(const Wish& wish, uint64_t bytes, const std::vector<Node>& nodes, const Plan& plan, Grant& grant) {
  if (plan.huge != 0 || grant.affinity == Affinity::system) return true;
  uint64_t free = 0;
  for (const Node& node : nodes) {
    if (plan.nodes.has(node.number)) free += node.free;
  }
  if (free >= bytes) return true;
  std::string why = what_is_wished(wish) + " has " + base::shown_bytes(free) + " free of the " +
                    base::shown_bytes(bytes) + " asked for";
  if (wish.policy != Policy::mandatory) why.append("; pages beyond that lie elsewhere");
  return fall_back(wish, why, "ask for less, or prefer it (Preferred)", grant);
}

}  // namespace

base::CpuSet nodes_for(const Wish& wish, const std::vector<Node>& nodes, const base::CpuSet& cpus, bool all) {
  base::CpuSet chosen;
  bool near_some = false;
  for (const Node& from : nodes) {
    if (all || from.cpus.both(cpus).empty()) continue;
    int nearest = INT_MAX;
    auto distance = [&](size_t to) { return to < from.distances.size() ? from.distances[to] : INT_MAX - 1; };
    for (size_t to = 0; to < nodes.size(); ++to) {
      if (is_of(nodes[to], wish)) nearest = std::min(nearest, distance(to));
    }
    for (size_t to = 0; to < nodes.size(); ++to) {
      if (is_of(nodes[to], wish) && distance(to) == nearest) chosen.add(nodes[to].number);
    }
    near_some = true;
  }
  if (near_some) return chosen;
  for (const Node& node : nodes) {
    if (is_of(node, wish)) chosen.add(node.number);
  }
  return chosen;
}

bool make_plan(const Wish& wish, uint64_t bytes, System& system, Plan& plan, Grant& grant) {
  grant.policy = wish.policy;
  std::vector<Node> nodes;
  if (wish.affinity != Affinity::system || wish.policy == Policy::interleave) {
    nodes = system.nodes(grant.problem);
    if (!grant.problem.empty() || !plan_nodes(wish, nodes, system, plan, grant)) return false;
  }
  return plan_pages(wish, bytes, nodes, system, plan, grant) && has_room(wish, bytes, nodes, plan, grant);
}

bool without_huge(const Wish& wish, const std::string& reason, Plan& plan, Grant& grant) {
  plan.huge = 0;
  grant.page = base_page;
  return fall_back(wish, "the kernel gives no huge pages of " + shown_page(wish.page) + " (" + reason + ")",
                   "have the administrator raise vm.nr_hugepages, or ask for 4K", grant);
}

bool carry_out(const Wish& wish, const Plan& plan, void* memory, size_t bytes, System& system, Grant& grant) {
  if (plan.transparent && system.welcome_huge(memory, bytes) != 0) {
    grant.transparent = false;
    grant.page = base_page;
  }
  if (plan.mode == PolicyMode::reset) return true;
  const int error = system.bind(memory, bytes, plan.mode, plan.nodes);
  if (error == 0) return true;
  Plan none;
  settle_for_system(none, grant);
  char reason[128];
  return fall_back(
      wish, std::string("the kernel does not bind memory (mbind: ") + strerror_r(error, reason, sizeof reason) + ")",
      "a container may forbid it; ask for SYS_DEFAULT", grant);
}

}  // namespace weft::pages
