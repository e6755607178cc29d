// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "topo/machine.hpp"

#include <hwloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <tuple>

#include "topo/apart.hpp"

namespace weft::topo {
namespace {

int domain_of(hwloc_topology_t topology, hwloc_obj_t object) {
  int domains = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
  for (int i = 0; i < domains; ++i) {
    hwloc_obj_t node = hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, static_cast<unsigned>(i));
    if (node && node->cpuset && hwloc_bitmap_intersects(node->cpuset, object->cpuset)) return i;
  }
  return 0;
}

int cache_of(hwloc_topology_t topology, hwloc_obj_t object) {
  hwloc_obj_t above = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_L3CACHE, object);
  return above != nullptr ? static_cast<int>(above->logical_index) : 0;
}

Core core_of(hwloc_topology_t topology, hwloc_obj_t object, const base::CpuSet& allowed) {
  Core core{.domain = domain_of(topology, object), .cache = cache_of(topology, object), .processors = {}};
  for (int cpu = hwloc_bitmap_first(object->cpuset); cpu >= 0; cpu = hwloc_bitmap_next(object->cpuset, cpu)) {
    if (allowed.empty() || allowed.has(cpu)) core.processors.push_back(cpu);
  }
  return core;
}

Machine reduced(hwloc_topology_t topology, const base::CpuSet& allowed) {
  Machine machine;
  // A machine that does not tell its cores (some virtual ones) has one per processor.
  hwloc_obj_type_t type = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  int count = hwloc_get_nbobjs_by_type(topology, type);
  for (int i = 0; i < count; ++i) {
    hwloc_obj_t object = hwloc_get_obj_by_type(topology, type, static_cast<unsigned>(i));
    if (!object || !object->cpuset) continue;
    Core core = core_of(topology, object, allowed);
    if (!core.processors.empty()) machine.cores.push_back(std::move(core));
  }
  const auto place = [](const Core& core) { return std::tuple(core.domain, core.cache); };
  std::stable_sort(machine.cores.begin(), machine.cores.end(),
                   [&](const Core& a, const Core& b) { return place(a) < place(b); });
  for (const Core& core : machine.cores) {
    for (int cpu : core.processors) machine.allowed.add(cpu);
  }
  renumber(machine);
  return machine;
}

// Only cores, NUMA domains, processors and perhaps caches: looking for the rest costs several times as much.
bool look_narrowly(hwloc_topology_t topology, Caches caches) {
  return hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE) == 0 &&
         hwloc_topology_set_type_filter(topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL) == 0 &&
         (caches == Caches::unknown ||
          hwloc_topology_set_type_filter(topology, HWLOC_OBJ_L3CACHE, HWLOC_TYPE_FILTER_KEEP_ALL) == 0);
}

Machine machine_of_file(const std::string& file) {
  Machine machine;
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) != 0) return machine;
  if (hwloc_topology_set_xml(topology, file.c_str()) == 0 && hwloc_topology_load(topology) == 0) {
    machine = reduced(topology, {});
  }
  hwloc_topology_destroy(topology);
  return machine;
}

}  // namespace

void renumber(Machine& machine) {
  machine.domains = machine.caches = 0;
  std::tuple<int, int> last{-1, -1};
  for (Core& core : machine.cores) {
    const std::tuple<int, int> place{core.domain, core.cache};
    if (core.domain != std::get<0>(last)) ++machine.domains;
    if (place != last) ++machine.caches;
    last = place;
    core.domain = machine.domains - 1;
    core.cache = machine.caches - 1;
  }
}

Machine this_machine(Caches caches) {
  Machine machine;
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) != 0) return machine;
  base::CpuSet allowed = base::affinity();
  if (look_narrowly(topology, caches) && hwloc_topology_load(topology) == 0) machine = reduced(topology, allowed);
  hwloc_topology_destroy(topology);
  int usable = base::usable_of(machine.allowed);
  if (usable < machine.allowed.count()) machine.quota = usable;
  return machine;
}

Machine synthetic_machine(const char* description, const base::CpuSet& allowed) {
  Machine machine;
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) != 0) return machine;
  if (hwloc_topology_set_synthetic(topology, description) == 0 && hwloc_topology_load(topology) == 0) {
    machine = reduced(topology, allowed);
  }
  hwloc_topology_destroy(topology);
  return machine;
}

namespace {

constexpr int64_t most_bytes = int64_t{64} << 20;  // a file of 4096 processors with all caches has 8 MB

// The processors of a description: the product of the numbers of all levels, without what is in brackets.
int64_t processors_of(const std::string& description) {
  int64_t product = 1;
  int depth = 0;
  for (size_t at = 0; at < description.size(); ++at) {
    const char c = description[at];
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    const bool begins = at == 0 || isalnum(static_cast<unsigned char>(description[at - 1])) == 0;  // not the 3 of l3
    if (depth != 0 || !begins || c < '0' || c > '9') continue;
    int64_t number = 0;
    for (; at < description.size() && description[at] >= '0' && description[at] <= '9'; ++at)
      number = std::min<int64_t>(10 * number + (description[at] - '0'), INT32_MAX);
    --at;
    product = std::min<int64_t>(product * number, INT32_MAX);
  }
  return product;
}

std::string too_many() {
  return " has more than " + std::to_string(base::CpuSet::capacity) + " processors, the most that Weft knows";
}

// The reason not to give it to hwloc.
std::string refused(const std::string& file_or_description, bool is_file) {
  if (!is_file) return processors_of(file_or_description) > base::CpuSet::capacity ? too_many() : "";
  struct stat about {};
  if (stat(file_or_description.c_str(), &about) != 0) return std::string(" cannot be read (") + strerror(errno) + ")";
  if (!S_ISREG(about.st_mode)) return " is no regular file";
  if (about.st_size <= most_bytes) return "";
  return " has " + std::to_string(about.st_size) + " bytes, more than the " + std::to_string(most_bytes) +
         " of the largest machine";
}

}  // namespace

Machine machine_of(const std::string& file_or_description, std::string& problem) {
  const bool is_file = access(file_or_description.c_str(), R_OK) == 0;
  problem = refused(file_or_description, is_file);
  if (!problem.empty()) return {};
  Facts facts;
  problem = find_apart(
      [&](Facts& found) {
        const Machine machine =
            is_file ? machine_of_file(file_or_description) : synthetic_machine(file_or_description.c_str(), {});
        for (const Core& core : machine.cores) {
          found.put(core.domain);
          found.put(core.cache);
          found.put_list(core.processors);
        }
      },
      facts);
  Machine machine;
  if (!problem.empty()) {
    problem = " cannot be read: " + problem;
    return machine;
  }
  while (!facts.is_at_end()) {
    Core& core = machine.cores.emplace_back();
    core.domain = static_cast<int>(facts.take());
    core.cache = static_cast<int>(facts.take());
    core.processors = facts.take_list();
    for (const int cpu : core.processors) {
      if (cpu >= base::CpuSet::capacity) problem = too_many();
      machine.allowed.add(cpu);
    }
  }
  if (machine.cores.empty()) problem = " is neither a file of hwloc's nor a description";
  if (!problem.empty()) return {};
  renumber(machine);
  return machine;
}

}  // namespace weft::topo
