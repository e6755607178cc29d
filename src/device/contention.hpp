// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Whether several processes take turns on a device. The device then needs a while to change from one to the other: on
// an H100 145 us, for kernels, for copies within the device and for short ones to it, but not for those that its copy
// engines do (docs/devices.md). So what took so long is noted, and from then on messages avoid it.

#include <atomic>
#include <cstdint>

namespace weft::device {

// A short copy, with nothing before it, that lasts as long as this has waited for a change.
inline constexpr uint64_t change_ns = 60000;

inline std::atomic<int> changes = 0;
inline void note_change() {
  changes.fetch_add(1, std::memory_order_relaxed);
}
inline bool takes_turns() {
  constexpr int certain = 4;
  return changes.load(std::memory_order_relaxed) >= certain;
}

}  // namespace weft::device
