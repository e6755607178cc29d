// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Shared memory of a communicator that other ranks may still use when its first rank leaves it. It is released when the
// last rank has left.

#include <atomic>
#include <cstdint>

namespace weft::coll {

// `left` lies in that memory and counts the ranks that use it no more. A part may be nullptr. Thread-safe.
void release_when_left(std::atomic<int32_t>& left, int32_t size, void* first, void* second = nullptr);
// Releases what all have left, before more is allocated.
void release_empty();

}  // namespace weft::coll
