// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Memory for the intermediate data of operations. Pieces of 32 KiB to 2 MiB stay in a pool from one operation to the
// next: an allocator gives them back to the kernel, and fresh pages cost more than to copy the data that they are for
// (docs/measurements/choices.md, "Memory of operations"). The pool has two pieces of each power of two, which is 8 MiB
// at most. Larger pieces are not pooled, but lie in huge pages. With WEFT_MINIMUM_MEMORY all is the allocator's.

#include <cstdint>

namespace weft::coll {

// nullptr: there is no memory. Aligned to a cache line, if it is not small.
[[nodiscard]] void* take_memory(int64_t bytes);
// `bytes` as they were asked for.
void give_memory(void* memory, int64_t bytes);

// The pieces in the pool, in bytes: for tests.
[[nodiscard]] int64_t pooled_bytes();

}  // namespace weft::coll
