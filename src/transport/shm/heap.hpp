// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Memory that peers reach directly: page-aligned pieces of our heap range in the shared segment. Pages of reserved
// pieces are taken when allocated (no memory is an error here, not a signal later), those of others when they are
// touched. They are given back to the system when freed. Core dumps hold what is in use alone.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "base/descriptor.hpp"

namespace weft::transport::shm {

class Heap {
 public:
  // `base` is where [offset, offset + bytes) of the segment behind `file` is mapped.
  void open(const base::Descriptor& file, char* base, size_t offset, size_t bytes);

  enum class Pages : uint8_t { reserved, untouched };

  // Allocates at a multiple of `alignment`, a power of two, and of a page. nullptr with errno set when the range has no
  // space or the machine no memory left. Thread-safe.
  [[nodiscard]] void* allocate(size_t bytes, size_t alignment, Pages pages);

  // A piece that was released; no bytes when `memory` was not allocated here. Thread-safe.
  struct Piece {
    size_t bytes = 0;  // of whole pages
    Pages pages = Pages::reserved;
  };
  [[nodiscard]] Piece release(void* memory);

  size_t size() const { return size_.load(std::memory_order_relaxed); }
  bool holds(const void* address, size_t bytes) const {
    const size_t size = size_.load(std::memory_order_acquire);  // pairs with the release in open(): base_ is set then
    auto at = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(base_.load(std::memory_order_relaxed));
    return at < size && bytes <= size - at;
  }
  size_t segment_offset(const void* address) const {
    return offset_ + static_cast<size_t>(static_cast<const char*>(address) - base_.load(std::memory_order_relaxed));
  }

 private:
  base::Descriptor file_;
  std::atomic<char*> base_ = nullptr;
  size_t offset_ = 0;
  std::atomic<size_t> size_ = 0;
  std::mutex mutex_;
  std::map<size_t, Piece> used_;  // by where it starts, a multiple of a page
};

}  // namespace weft::transport::shm
