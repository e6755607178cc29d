// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The integer of an object's handle, as MPI_Comm_toint and its like give it: the object's position in the arena, behind
// the numbers of predefined handles. It is computed here, since a call for each handle costs more than a message. Any
// integer may be asked for: a wrong one becomes a wrong handle, which the function that gets it reports.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::fortran {

inline constexpr int slot_shift = 6;
inline constexpr uint32_t first_number = 0x1000;

// Where the object of number 0 would be. It is 0 until it is known and does not change afterwards, so every thread that
// learns it stores the same.
inline std::atomic<uintptr_t> origin = 0;
// The origin, or while there is no object an address that none will have.
[[gnu::cold, gnu::noinline]] uintptr_t learn_origin();

[[gnu::always_inline]] inline uintptr_t known_origin() {
  const uintptr_t known = origin.load(std::memory_order_relaxed);
  if (known != 0) [[likely]]
    return known;
  return learn_origin();
}

template <typename H>
[[gnu::always_inline]] inline H object_of(uint32_t number) {
  return reinterpret_cast<H>(known_origin() + (uintptr_t{number} << slot_shift));
}

// The number is as large as its distance from the origin for any address, so a handle that is none gives one above all.
[[gnu::always_inline]] inline uintptr_t number_of_object(uintptr_t handle) {
  return (handle - known_origin()) >> slot_shift;
}

}  // namespace weft::fortran
