// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Host memory of Weft's own that the device in use reaches faster: pinned once, until close(). Thread-safe.

#include <cstddef>

namespace weft::device {

// It stays where it is until unpin() or close(). Where the driver refuses, copies take longer.
void pin_once(void* memory, size_t bytes);

// Memory of networks that data of devices may be staged in: pinned when the first are, and from then on at once.
void lend(void* memory, size_t bytes);
void pin_lent();

// Unpins all that was pinned in there, as the memory goes before close(). No copy is under way.
void unpin(void* memory, size_t bytes);

// Pinned memory for data that pass through the host; nullptr: there is none. Some of it is kept for the next call when
// it is given back.
[[nodiscard]] void* take_pinned(size_t bytes);
void give_pinned(void* memory, size_t bytes);

// Before such memory is freed or unmapped, and no copy is under way: unpins it all, and unmaps what other processes
// have shared (mappings.hpp).
void close();

}  // namespace weft::device
