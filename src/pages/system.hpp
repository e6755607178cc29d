// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Questions and requests of this layer to the system, behind an interface, so that machines with other memory can be
// played.

#include <vector>

#include "pages/available.hpp"
#include "pages/node.hpp"
#include "pages/size.hpp"

namespace weft::pages {

enum class PolicyMode : uint8_t { reset, prefer, bind, interleave };

class System {
 public:
  virtual ~System() = default;
  virtual std::vector<Node> nodes(std::string& problem) { return nodes_here(problem); }
  virtual Sizes sizes() { return sizes_here(); }
  virtual base::CpuSet cpus() { return base::affinity(); }
  // Where pages of [memory, memory + bytes) are taken from now on (mbind). 0, or errno.
  [[nodiscard]] virtual int bind(void* memory, size_t bytes, PolicyMode mode, const base::CpuSet& nodes);
  // Transparent huge pages are welcome there (madvise). 0, or errno.
  [[nodiscard]] virtual int welcome_huge(void* memory, size_t bytes);
};

}  // namespace weft::pages
