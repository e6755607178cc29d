// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The NUMA nodes of this host and their kinds.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pages/available.hpp"
#include "pages/grant.hpp"
#include "pages/size.hpp"

namespace weft::pages {

struct Node {
  int number = 0;  // the system's
  MemoryKind kind = MemoryKind::ddr;
  uint64_t bytes = 0;
  uint64_t free = 0;            // with pages of files, which the kernel drops
  uint64_t bandwidth = 0;       // MB/s from the nearest processors, as the firmware tells; 0: it does not
  base::CpuSet cpus;            // the node's own
  std::vector<HugePages> huge;  // that are free there; reserved ones are not told
  bool allowed = true;          // this process may take memory of it (cpuset)
  std::vector<int> distances;   // to the nodes of this host, in the order of their numbers
};

// The nodes that the kernel tells of in /sys/devices/system/node, with their kinds. Empty where it knows of no nodes.
[[nodiscard]] std::vector<Node> nodes_of_kernel(const KernelPaths& places = {});

// Tells kinds by bandwidth, measured by the slowest node that has processors: HBM has twice of that and more, and what
// has less than half, or no processors and no known bandwidth, is something else.
void tell_kinds(std::vector<Node>& nodes);

// Kinds as people or mpiexec give them, "0=DDR,1=HBM" (WEFT_MEMORY_NODES). The result says why they are
// not taken; empty: they are.
[[nodiscard]] std::string take_kinds(std::string_view text, std::vector<Node>& nodes);
std::string shown_kinds(const std::vector<Node>& nodes);

// Whether the setting WEFT_MEMORY_NODES tells kinds.
[[nodiscard]] bool kinds_are_set();

// nodes_of_kernel() with the kinds of the setting.
[[nodiscard]] std::vector<Node> nodes_here(std::string& problem);

}  // namespace weft::pages
