// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Kinds of NUMA nodes as hwloc finds them by its memory attributes. It knows more processors and firmware than what the
// kernel tells alone; mpiexec hands it down to ranks, which do not load hwloc.

#include <string>
#include <vector>

#include "pages/node.hpp"

namespace weft::topo {

// Returns the nodes of this host; empty when hwloc cannot tell.
std::vector<pages::Node> memory_nodes();

// Returns those of a machine that hwloc has written down (hwloc-ls --of xml), for tests and for asking what would
// happen there. `crash` says how hwloc failed where it could not even refuse the file.
std::vector<pages::Node> memory_nodes_of_file(const std::string& xml, std::string& crash);

// The value of WEFT_MEMORY_NODES for ranks of this host; empty: they find the same without it.
std::string kinds_for_ranks();

}  // namespace weft::topo
