// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The part of a machine that a layout of ranks and threads reaches, and the layout that gets more.

#include <string>
#include <vector>

#include "topo/placement.hpp"

namespace weft::tool {

struct Layout {
  int ranks;
  int threads;
  topo::Binding binding = topo::Binding::core;

  int all() const { return ranks * threads; }
};

// Numbers of cores, last-level caches and NUMA domains.
struct Reach {
  int cores = 0;
  int caches = 0;
  int domains = 0;
};

struct LayoutResult {
  Layout layout;
  std::string name;
  Reach reach;
  double share = 0;   // of the best one's speed
  double spread = 0;  // of its runs, as a part of their median
};

// Processors that no rank is bound to count as reached by ranks without a binding.
[[nodiscard]] Reach reach_of(const topo::Machine& machine, const Layout& layout);
[[nodiscard]] Reach reach_of(const topo::Machine& machine);

// Places ranks as an earlier one of the list does.
[[nodiscard]] bool is_placed_as_one_of(const topo::Machine& machine, const Layout& layout,
                                       const std::vector<Layout>& earlier);

// The best, the fewest cores that are as good, and for each layout that is worse by more than 5 % and more than the
// spread the reached part and the command of one that gets more. The best comes first in `results`.
[[nodiscard]] std::string advice(const std::vector<LayoutResult>& results, const Reach& machine);

}  // namespace weft::tool
