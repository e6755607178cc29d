// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Huge pages for the shared memory that Weft uses itself: rings, staging buffers, shared regions (WEFT_HUGE_PAGES).
// They are transparent ones of 2 MiB, which need no preparation by the administrator.

#include <cstddef>

namespace weft::pages {

inline constexpr size_t huge_boundary = size_t{2} << 20;

// Whether the setting, and with `auto` the system, has Weft's own memory in huge pages.
[[nodiscard]] bool wants_huge();

// Puts the complete huge pages within [memory, memory + bytes) under it, if they are wanted: shared memory whose
// addresses and places in its file differ by a multiple of huge_boundary. Its pages are taken, its contents stay. Where
// the system has no such page left it stays in small ones.
void make_huge(void* memory, size_t bytes);

}  // namespace weft::pages
