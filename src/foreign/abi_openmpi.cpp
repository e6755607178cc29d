// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "foreign/abi_openmpi.hpp"

#include <algorithm>

namespace weft::foreign {

constinit PredefinedRegion most_predefined = {0, 0};

void after_init() {
  const uintptr_t base = face.hooks.arena_base->load(std::memory_order_relaxed);
  if (base >= mpi::predefined_limit) origin.store(base, std::memory_order_relaxed);
}

namespace {

// The dynamic linker has filled in the table of addresses; those outside of this library are of copies.
[[gnu::constructor]] void find_predefined() {
  const auto own = reinterpret_cast<uintptr_t>(weft_predefined);
  uintptr_t first = UINTPTR_MAX;
  uintptr_t last = 0;
  for (const char* const symbol : symbols) {
    const auto address = reinterpret_cast<uintptr_t>(symbol);
    if (address - own < predefined_bytes) continue;
    first = std::min(first, address);
    last = std::max(last, address);
  }
  most_predefined = last == 0 ? PredefinedRegion{own, predefined_bytes - sizeof(PredefinedObject)}
                              : PredefinedRegion{first, last - first + sizeof(PredefinedObject)};
}

}  // namespace
}  // namespace weft::foreign
