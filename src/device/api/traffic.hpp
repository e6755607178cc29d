// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Counts by which route the data of buffers on devices went, for statistics. They are counted where a device copies,
// never on the path of host memory.

#include <atomic>
#include <cstdint>

namespace weft::device {

enum class CopyMethod : uint8_t {
  mapped,    // messages that the receiver's device copied from the sender's memory, which it had mapped
  packed,    // packed or unpacked: data of small messages and of streams, and layouts with gaps
  stood_in,  // between a buffer and the host memory that stands for it in a collective operation
  straight   // messages that an adapter of a network has read from memory of a device, or put there
};
inline constexpr int way_count = 4;

struct Traffic {
  std::atomic<uint64_t> copies{0};
  std::atomic<uint64_t> bytes{0};
};
inline Traffic traffic[way_count];

inline void count(CopyMethod way, int64_t bytes) {
  Traffic& counted = traffic[static_cast<int>(way)];
  counted.copies.fetch_add(1, std::memory_order_relaxed);
  counted.bytes.fetch_add(static_cast<uint64_t>(bytes), std::memory_order_relaxed);
}

}  // namespace weft::device
