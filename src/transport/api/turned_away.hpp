// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The count of what came from other hosts and was turned away, because it did not prove to be of this job: a
// stranger's, or of a rank and changed on its way. `weft why` tells it when a job stands still. Thread-safe.

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
