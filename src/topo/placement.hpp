// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Which processors each rank of a host gets.

#include <string>
#include <string_view>
#include <vector>

#include "base/cpus.hpp"
#include "topo/machine.hpp"

namespace weft::topo {

enum class Binding : uint8_t {
  none,  // ranks run where the system puts them
  core,  // equal shares of whole cores, disjoint, spread over the NUMA domains; threads spread over their rank's share
  pack,  // the same, with the threads of a rank near each other
  numa,  // a NUMA domain per rank, shared with the domain's other ranks
  list,  // sets of processors as the user wrote them, in turn
};

// Ranks get cores of their own.
constexpr bool is_by_core(Binding binding) {
  return binding == Binding::core || binding == Binding::pack;
}

struct BindingRequest {
  Binding binding = Binding::core;
  std::vector<base::CpuSet> sets = {};  // of Binding::list
  int threads = 0;                      // of each rank, which get a core each (Binding::core, pack); 0: not said
  int reserve = 0;                      // cores without ranks, for service threads and the system
};

// "core", "pack", "numa", "none", or a list such as "0-3,8:4-7": one set per rank, separated by colons. Empty: taken.
// The rest of the request is left as it is.
[[nodiscard]] std::string parse_binding(std::string_view text, BindingRequest& request);

[[nodiscard]] const char* name_of(Binding binding);

// The places of OpenMP for the threads of a rank.
enum class Places : uint8_t { unsaid, cores, threads };

struct Placement {
  std::vector<base::CpuSet> sets;  // one per rank; an empty set means unbound
  bool crowded = false;            // more ranks than processors: waiting ranks must yield
  int cpus = 1;                    // processors' worth of time that the ranks have together
  int cores = 1;                   // cores they are on
  Places places = Places::unsaid;  // each rank has as many of these as it has threads
  base::CpuSet reserved = {};      // kept free of ranks
  std::string wrong = {};          // why the request cannot be served
};

// A pure function of the machine. When there are more ranks than cores, cores' hardware threads are dealt out, in turn
// when there are more ranks than those: OpenMP sees a rank's share then, and does not spin on the cores of others.
// Ranks that have said their threads get as many cores, evenly over the share that they would get otherwise: over its
// NUMA domains, in these over last-level caches, so that few threads still have the bandwidth of all. Packed, or where
// a share has too few, they get cores that share a cache, else a domain. Hardware threads where cores do not suffice;
// and shares as without threads where these do not either.
// Reserved cores are the last ones of the NUMA domains that have most; unbound ranks are bound to all others then.
Placement place(const Machine& machine, int ranks, const BindingRequest& request);

// Returns the reserved processors for the service threads of a rank: in its NUMA domain where there are any.
base::CpuSet service_set(const Machine& machine, const Placement& placement, size_t rank);

}  // namespace weft::topo
