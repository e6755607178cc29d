// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "topo/memory.hpp"

#include <hwloc.h>
#include <strings.h>

#include <algorithm>
#include <iterator>

#include "topo/apart.hpp"

namespace weft::topo {
namespace {

using pages::MemoryKind;
using pages::Node;

// The bandwidth from the processors that have the most of it, MB/s.
uint64_t bandwidth_of(hwloc_topology_t topology, hwloc_obj_t object) {
  constexpr unsigned most = 64;
  unsigned count = most;
  hwloc_location initiators[most];
  hwloc_uint64_t values[most];
  if (hwloc_memattr_get_initiators(topology, HWLOC_MEMATTR_ID_BANDWIDTH, object, 0, &count, initiators, values) != 0)
    return 0;
  uint64_t best = 0;
  for (unsigned i = 0; i < std::min(count, most); ++i) best = std::max<uint64_t>(best, values[i]);
  return best;
}

// hwloc names a node's technology where it knows it.
void take_technology(hwloc_obj_t object, Node& node) {
  if (object->subtype == nullptr) return;
  if (strcasecmp(object->subtype, "HBM") == 0 || strcasecmp(object->subtype, "MCDRAM") == 0) {
    node.kind = MemoryKind::hbm;
  } else {
    node.kind = strcasecmp(object->subtype, "DRAM") == 0 ? MemoryKind::ddr : MemoryKind::other;
  }
}

// Processors that several nodes are local to count for the first of them, as with the kernel.
std::vector<Node> nodes_of(hwloc_topology_t topology) {
  std::vector<Node> nodes;
  std::vector<hwloc_obj_t> objects;
  base::CpuSet taken;
  const int count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
  for (int i = 0; i < count; ++i) {
    hwloc_obj_t object = hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, static_cast<unsigned>(i));
    if (object == nullptr || object->attr == nullptr) continue;
    Node node{.number = static_cast<int>(object->os_index), .bytes = object->attr->numanode.local_memory};
    node.free = node.bytes;  // hwloc does not tell
    node.bandwidth = bandwidth_of(topology, object);
    for (int cpu = hwloc_bitmap_first(object->cpuset); cpu >= 0; cpu = hwloc_bitmap_next(object->cpuset, cpu)) {
      if (!taken.has(cpu)) node.cpus.add(cpu);
    }
    taken.add(node.cpus);
    nodes.push_back(node);
    objects.push_back(object);
  }
  pages::tell_kinds(nodes);
  for (size_t i = 0; i < nodes.size(); ++i) {
    take_technology(objects[i], nodes[i]);
    for (size_t j = 0; j < nodes.size(); ++j) {
      const bool near = hwloc_bitmap_intersects(objects[i]->cpuset, objects[j]->cpuset) != 0;
      nodes[i].distances.push_back(i == j ? 10 : near ? 13 : 20);
    }
  }
  return nodes;
}

// Without what nodes are local to, all of them would be local to the whole machine.
bool look_for_structure(hwloc_topology_t topology) {
  constexpr hwloc_obj_type_t types[] = {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_DIE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_GROUP};
  return hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE) == 0 &&
         std::all_of(std::begin(types), std::end(types), [&](hwloc_obj_type_t type) {
           return hwloc_topology_set_type_filter(topology, type, HWLOC_TYPE_FILTER_KEEP_STRUCTURE) == 0;
         });
}

std::vector<Node> load(const char* xml) {
  std::vector<Node> nodes;
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) != 0) return nodes;
  if ((xml == nullptr || hwloc_topology_set_xml(topology, xml) == 0) && look_for_structure(topology) &&
      hwloc_topology_load(topology) == 0) {
    nodes = nodes_of(topology);
  }
  hwloc_topology_destroy(topology);
  return nodes;
}

}  // namespace

std::vector<Node> memory_nodes() {
  return load(nullptr);
}

std::vector<Node> memory_nodes_of_file(const std::string& xml, std::string& crash) {
  Facts facts;
  crash = find_apart(
      [&](Facts& found) {
        for (const Node& node : load(xml.c_str())) {
          found.put(node.number);
          found.put(static_cast<int64_t>(node.kind));
          found.put(static_cast<int64_t>(node.bytes));
          found.put(static_cast<int64_t>(node.bandwidth));
          std::vector<int> cpus;
          for (int cpu = 0; cpu < base::CpuSet::capacity; ++cpu) {
            if (node.cpus.has(cpu)) cpus.push_back(cpu);
          }
          found.put_list(cpus);
          found.put_list(node.distances);
        }
      },
      facts);
  std::vector<Node> nodes;
  while (!facts.is_at_end()) {
    Node& node = nodes.emplace_back();
    node.number = static_cast<int>(facts.take());
    node.kind = static_cast<pages::MemoryKind>(facts.take());
    node.bytes = static_cast<uint64_t>(facts.take());
    node.free = node.bytes;
    node.bandwidth = static_cast<uint64_t>(facts.take());
    for (const int cpu : facts.take_list()) node.cpus.add(cpu);
    node.distances = facts.take_list();
  }
  return nodes;
}

std::string kinds_for_ranks() {
  std::vector<Node> plain = pages::nodes_of_kernel();
  if (plain.size() < 2) return {};  // there is nothing to tell apart
  const std::string found = pages::shown_kinds(plain);
  for (const Node& node : memory_nodes()) {
    for (Node& other : plain) {
      if (other.number == node.number) other.kind = node.kind;
    }
  }
  const std::string kinds = pages::shown_kinds(plain);
  return kinds == found ? "" : kinds;
}

}  // namespace weft::topo
