// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/object_number.hpp"

#include "mpi/face.hpp"

namespace weft::fortran {

static_assert(first_number == mpi::predefined_limit);
static_assert(base::Arena::slot_align == size_t{1} << slot_shift);

uintptr_t learn_origin() {
  const uintptr_t base = WEFT_FACE.hooks.arena_base->load(std::memory_order_relaxed);
  // The place of the arena is odd while there is no object.
  if (base % base::Arena::slot_align != 0) return uintptr_t{1} << 63;
  const uintptr_t known = base - (uintptr_t{first_number} << slot_shift);
  origin.store(known, std::memory_order_relaxed);
  return known;
}

}  // namespace weft::fortran
