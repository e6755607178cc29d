// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The host as hwloc sees it, reduced to the facts for placing ranks: cores in the order of their NUMA domains, and
// which of their processors we may use.

#include <string>
#include <vector>

#include "base/cpus.hpp"

namespace weft::topo {

struct Core {
  int domain;                   // index of the NUMA domain, from 0
  int cache;                    // index of the last-level cache, from 0; that of the domain where none is told
  std::vector<int> processors;  // the system's numbers of its hardware threads, only those allowed
};

struct Machine {
  std::vector<Core>
      cores;  // only those with a processor we may use; cores of one domain stand together, in it those of a cache
  int domains = 0;       // NUMA domains that have such cores
  int caches = 0;        // last-level caches that have such cores
  base::CpuSet allowed;  // all processors in `cores`
  int quota = 0;         // processors' worth of time the control groups grant; 0: no limit
};

// Numbers domains and caches anew, from 0 in the order of the cores, and counts them: after cores were taken out.
void renumber(Machine& machine);

enum class Caches : bool { unknown, known };  // to look for them takes several times as long

// Looks at this host: the calling process's affinity mask and control groups bound the allowed processors. An empty
// machine (no cores) when hwloc cannot tell.
Machine this_machine(Caches caches = Caches::unknown);

// A machine from hwloc's synthetic description ("numa:2 core:4 pu:2"), of which `allowed` may be used; an empty set
// means all. For tests and for asking what would happen elsewhere.
Machine synthetic_machine(const char* description, const base::CpuSet& allowed);

// A machine that hwloc has written down (hwloc-ls --of xml), or a synthetic one where no such file is. An empty
// machine: `problem` says what is wrong, behind the name of the file or the description.
Machine machine_of(const std::string& file_or_description, std::string& problem);

}  // namespace weft::topo
