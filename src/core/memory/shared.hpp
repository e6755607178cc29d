// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Memory that ranks of this host reach.

#include <cstddef>

#include "pages/wish.hpp"

namespace weft::core {

// Memory of our own that ranks of this host reach directly, zero, at a multiple of a page and of `alignment`, a power
// of two: its pages are taken. nullptr with errno set when there is none. Thread-safe.
[[nodiscard]] void* allocate_shared(size_t bytes, size_t alignment);
// Gives such memory to the program (MPI_Alloc_mem, windows, a symmetric heap), of the kind that it wishes. Pages are
// taken when they are touched. Thread-safe.
[[nodiscard]] pages::Grant grant_shared(size_t bytes, const pages::Wish& wish);
// The kind of such memory, where `memory` lies in it; false: it does not. Thread-safe.
[[nodiscard]] bool granted(const void* memory, pages::Grant& grant);
// Gives back memory of either; false for memory that did not come from here. Thread-safe.
[[nodiscard]] bool release_shared(void* memory);

}  // namespace weft::core
