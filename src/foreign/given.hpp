// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The table of libweft.so's functions, and words that the headers of all ABIs use.

#include <cstddef>
#include <type_traits>

#include "mpi/face.hpp"

namespace weft::foreign {

inline const mpi::Face& face = WEFT_FACE;

// Whether handles of a kind are those of objects more often than predefined ones.
template <class H>
inline constexpr bool often_objects =
    !std::is_same_v<H, MPI_Comm> && !std::is_same_v<H, MPI_Datatype> && !std::is_same_v<H, MPI_Op>;

// A wrong handle of the standard ABI, which every function reports. No address of an object has its bits.
template <class H>
inline H wrong_handle(uint32_t low_bits) {
  return reinterpret_cast<H>(~uintptr_t{0} << 32 | low_bits);
}

// The markers that MPI-3.0 removed: parts of a structure that are only its bounds.
enum class Marker { none, lower, upper };

}  // namespace weft::foreign
