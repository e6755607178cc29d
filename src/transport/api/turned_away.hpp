// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The number of messages and connections from other hosts that were rejected because they did not prove to be of this
// job: they came from a process outside it, or from a rank and were changed on their way. `weft why` reports it when a
// job stands still. Thread-safe.

#include <atomic>
#include <cstdint>

namespace weft::transport {

inline constinit std::atomic<uint64_t> times_turned_away = 0;

inline void count_turned_away() {
  times_turned_away.fetch_add(1, std::memory_order_relaxed);
}
inline uint64_t turned_away() {
  return times_turned_away.load(std::memory_order_relaxed);
}

}  // namespace weft::transport
