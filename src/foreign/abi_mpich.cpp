// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "foreign/abi_mpich.hpp"

namespace weft::foreign {

uintptr_t learn_origin() {
  const uintptr_t base = face.hooks.arena_base->load(std::memory_order_relaxed);
  const uintptr_t known = base - (uintptr_t{first_object} << slot_shift);
  origin.store(known, std::memory_order_relaxed);
  return known;
}

}  // namespace weft::foreign
