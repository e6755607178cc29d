// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// How a wish is granted on this machine: first a plan, by what the system tells; then, when there is address space, its
// execution, by which the kernel may refuse what the plan took for possible.

#include "pages/grant.hpp"
#include "pages/system.hpp"

namespace weft::pages {

struct Plan {
  PolicyMode mode = PolicyMode::reset;  // reset: the system's own way
  base::CpuSet nodes;
  size_t huge = 0;           // explicit huge pages of so many bytes; 0: none
  bool transparent = false;  // transparent ones are asked for
  size_t alignment = base_page;
};

// False: the wish is mandatory and cannot be granted, and grant.problem says why. Otherwise `grant` tells what will be
// obtained, and what will not.
[[nodiscard]] bool make_plan(const Wish& wish, uint64_t bytes, System& system, Plan& plan, Grant& grant);

// Goes on without explicit huge pages, which the kernel has refused for a reason. False as above.
[[nodiscard]] bool without_huge(const Wish& wish, const std::string& reason, Plan& plan, Grant& grant);

// Binds memory that nobody has touched. False as above.
[[nodiscard]] bool carry_out(const Wish& wish, const Plan& plan, void* memory, size_t bytes, System& system,
                             Grant& grant);

// The nodes of an affinity for a process on these processors: of a kind the nearest ones, or all of them.
[[nodiscard]] base::CpuSet nodes_for(const Wish& wish, const std::vector<Node>& nodes, const base::CpuSet& cpus,
                                     bool all);

}  // namespace weft::pages
