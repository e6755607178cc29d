// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Whether several processes take turns on a device. The device then needs a while to change from one to the other: on
// an H100 145 us, for kernels, for copies within the device and for short ones to it, but not for those that its copy
// engines do (docs/design/devices.md). So what took so long is noted, and from then on messages avoid it.

#include <atomic>
#include <cstdint>

namespace weft::device {

// A short copy, with nothing before it, that lasts as long as this has waited for a change.
inline constexpr uint64_t change_ns = 60000;

// Rises with what has waited and falls with what has not: two processes may wait in turn.
inline std::atomic<int> changes = 0;
inline std::atomic<uint32_t> questions = 0;

inline void note_short_copy(uint64_t lasted_ns) {
  constexpr int most = 16;
  const int before = changes.load(std::memory_order_relaxed);
  const int after = lasted_ns > change_ns ? (before < most ? before + 2 : most) : (before > 0 ? before - 1 : 0);
  if (after != before) changes.store(after, std::memory_order_relaxed);
}

// Now and then the answer is no, so that a device that has become ours alone is found.
inline bool takes_turns() {
  constexpr int certain = 8;
  constexpr uint32_t one_of = 256;
  return changes.load(std::memory_order_relaxed) >= certain &&
         questions.fetch_add(1, std::memory_order_relaxed) % one_of != 0;
}

}  // namespace weft::device
