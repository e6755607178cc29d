// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Where large pieces of a rank's memory lie in a sparse file: in slots of a power of two bytes, 64 of each size, the
// smaller ones first. The offset of a byte tells its slot, so that a peer which is told an offset can map as much as
// belongs together and needs no directory. Only the file's numbers are taken: no memory, and no address space.

#include <bit>
#include <cstddef>
#include <cstdint>

namespace weft::transport::shm {

struct MemorySlot {
  uint64_t begin;  // behind the first slot, bytes
  uint64_t bytes;
};

struct Slots {
  static constexpr uint32_t of_each_size = 64;
  static constexpr uint32_t most_log2 = 44;  // 16 TiB

  uint32_t least_log2 = 30;  // of the smallest slots

  // The end of the slots of 2^log2 bytes.
  constexpr uint64_t end_of(uint32_t log2) const {
    return of_each_size * ((uint64_t{2} << log2) - (uint64_t{1} << least_log2));
  }
  constexpr uint64_t total() const { return end_of(most_log2); }

  constexpr MemorySlot slot(uint32_t log2, uint32_t number) const {
    const uint64_t bytes = uint64_t{1} << log2;
    return {end_of(log2) - (of_each_size - number) * bytes, bytes};
  }
  // The slot that a byte is in; `at` is below total().
  constexpr MemorySlot slot_of(uint64_t at) const {
    const uint64_t least = uint64_t{1} << least_log2;
    const uint64_t bytes = std::bit_floor(at / of_each_size + least);
    const uint64_t first = of_each_size * (bytes - least);  // of this size
    return {first + ((at - first) & ~(bytes - 1)), bytes};
  }
  // The smallest size of slots for so many bytes; above most_log2: there is none.
  constexpr uint32_t size_for(uint64_t bytes) const {
    const auto log2 = static_cast<uint32_t>(bytes <= 1 ? 0 : std::bit_width(bytes - 1));
    return log2 < least_log2 ? least_log2 : log2;
  }
};

}  // namespace weft::transport::shm
