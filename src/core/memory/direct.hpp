// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Operations on a region that need no help of its owner. Each returns false when the region is not reached so: then
// nothing was done, or of puts and gets a part, and messages have to do it. A kernel that refuses once is not asked
// again. The data are inside the region. Any thread may call them.

#include "core/memory/update.hpp"

namespace weft::core::memory {

[[nodiscard]] bool put(Region& region, const Local& from, const RegionData& to);
[[nodiscard]] bool get(Region& region, const Local& to, const RegionData& from);

// The types consist of the update's element. `result` nullptr: the old values are not wanted. `error`: an error class,
// no memory.
[[nodiscard]] bool update(Region& region, const Update& update, const Local& from, const Local* result,
                          const RegionData& to, int32_t& error);

// One element: swaps in `value` where it is `compare`; the old value goes to `result`. All packed.
[[nodiscard]] bool compare_swap(Region& region, const Element& element, Busy& busy, const void* value,
                                const void* compare, void* result, const RegionData& to);

}  // namespace weft::core::memory
