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
  core,  // equal shares of whole cores, disjoint, spread over the NUMA domains
  numa,  // a NUMA domain per rank, shared with the domain's other ranks
  list,  // sets of processors as the user wrote them, in turn
};

struct BindingRequest {
  Binding binding = Binding::core;
  std::vector<base::CpuSet> sets = {};  // of Binding::list
};

// "core", "numa", "none", or a list such as "0-3,8:4-7": one set per rank, separated by colons. Empty: taken.
[[nodiscard]] std::string parse_binding(std::string_view text, BindingRequest& request);

struct Placement {
  std::vector<base::CpuSet> sets;  // one per rank; an empty set means unbound
  bool crowded = false;            // more ranks than processors: waiting ranks must yield
  int cpus = 1;                    // processors' worth of time that the ranks have together
  int cores = 1;                   // cores they are on
  std::string wrong = {};          // why the request cannot be served
};

// A pure function of the machine. When there are more ranks than cores, cores' hardware threads are dealt out; when
// there are more ranks than those, ranks stay unbound: a rank bound to a crowded processor cannot move to an idle one.
Placement place(const Machine& machine, int ranks, const BindingRequest& request);

}  // namespace weft::topo
