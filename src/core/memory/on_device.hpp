// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Memory of a region where the processor cannot touch it (Reach::device): the device's driver copies. A failure of it
// is told by device::take_failure().

#include "core/memory/update.hpp"

namespace weft::core::memory {

// Each side may be in the host's memory or on a device.
void move_bytes(void* to, const void* from, size_t bytes);

// They do what update_here() and swap_here() do: elements are fetched, changed and stored under the locks of their
// blocks. The operands are in the host's memory.
void update_on_device(const Region& region, const Update& update, const void* in, char* at, void* old, int64_t count);
void swap_on_device(const Region& region, const Element& element, const void* value, const void* compare, char* at,
                    void* old);

}  // namespace weft::core::memory
