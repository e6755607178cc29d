// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Large pieces of memory that peers reach directly, each in a slot of a sparse file (slots.hpp) and mapped by itself:
// as large as the machine has memory for. Pages are taken when they are touched, and go back to the system when the
// piece is released.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "base/descriptor.hpp"
#include "transport/shm/slots.hpp"

namespace weft::transport::shm {

class Large {
 public:
  // Explicit huge pages are reserved when they are mapped, so that touching them cannot fail.
  enum class LargePages : uint8_t { untouched, reserved_huge };

  // The slots begin `offset` bytes into the file behind `file`; nothing can be allocated before this.
  void open(const base::Descriptor& file, uint64_t offset, Slots slots = {}, LargePages pages = LargePages::untouched);
  ~Large();

  // Allocates whole pages of the file, at a multiple of `alignment`, a power of two of at least such a page. nullptr
  // with errno set: no slot, no address space or no huge pages are left. Thread-safe.
  [[nodiscard]] void* allocate(size_t bytes, size_t alignment);
  // Releases `memory` and returns its bytes; 0 when it was not allocated here. Thread-safe.
  [[nodiscard]] size_t release(void* memory);

  // Where memory of ours lies in the file. Thread-safe, and two loads for what is not near any piece.
  std::optional<uint64_t> file_offset(const void* address, size_t bytes) const {
    const auto at = reinterpret_cast<uintptr_t>(address);
    if (at < low_.load(std::memory_order_relaxed) || at >= high_.load(std::memory_order_relaxed)) [[likely]]
      return {};
    return look_up(at, bytes);
  }

 private:
  struct LargePiece {
    uint64_t slot;  // begins here, behind the first
    size_t bytes;
    uint32_t log2;
    uint32_t number;
  };
  [[gnu::cold]] std::optional<uint64_t> look_up(uintptr_t at, size_t bytes) const;

  base::Descriptor file_;
  uint64_t offset_ = 0;
  Slots slots_;
  LargePages pages_ = LargePages::untouched;
  std::atomic<uintptr_t> low_ = UINTPTR_MAX;  // no piece ever began below, or ended above
  std::atomic<uintptr_t> high_ = 0;
  mutable std::mutex mutex_;  // of the rest
  std::map<uintptr_t, LargePiece> pieces_;
  uint64_t used_[Slots::most_log2 + 1] = {};  // by size, a bit for each slot
};

}  // namespace weft::transport::shm
