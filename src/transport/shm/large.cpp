// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/large.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>

#include "base/address_space.hpp"
#include "boot/job/segment.hpp"

namespace weft::transport::shm {

void Large::open(const base::Descriptor& file, uint64_t offset, Slots slots, LargePages pages) {
  std::lock_guard guard(mutex_);
  offset_ = offset;
  slots_ = slots;
  pages_ = pages;
  file_ = file;
}

Large::~Large() {
  for (const auto& [at, piece] : pieces_) munmap(reinterpret_cast<void*>(at), piece.bytes);
}

void* Large::allocate(size_t bytes, size_t alignment) {
  std::lock_guard guard(mutex_);
  uint32_t log2 = slots_.size_for(bytes);
  while (log2 <= Slots::most_log2 && ~used_[log2] == 0) ++log2;
  if (!file_.is_open() || log2 > Slots::most_log2) {
    errno = ENOMEM;
    return nullptr;
  }
  const auto number = static_cast<uint32_t>(std::countr_one(used_[log2]));
  const MemorySlot slot = slots_.slot(log2, number);
  const int flags = MAP_SHARED | (pages_ == LargePages::untouched ? MAP_NORESERVE : 0);
  void* const memory = base::map_aligned(bytes, alignment, flags, file_.needed(), offset_ + slot.begin);
  if (memory == MAP_FAILED) return nullptr;
  const auto at = reinterpret_cast<uintptr_t>(memory);
  used_[log2] |= uint64_t{1} << number;
  pieces_.emplace(at, LargePiece{slot.begin, bytes, log2, number});
  low_.store(std::min(low_.load(std::memory_order_relaxed), at), std::memory_order_relaxed);
  high_.store(std::max(high_.load(std::memory_order_relaxed), at + bytes), std::memory_order_relaxed);
  return memory;
}

size_t Large::release(void* memory) {
  std::lock_guard guard(mutex_);
  const auto found = pieces_.find(reinterpret_cast<uintptr_t>(memory));
  if (found == pieces_.end()) return 0;
  const LargePiece piece = found->second;
  pieces_.erase(found);
  const int fd = file_.number();
  // The kernel takes the reservation of a huge page back with the page alone: one that was never touched must be there
  // before the hole is made.
  if (pages_ == LargePages::reserved_huge) (void)boot::reserve_segment(fd, offset_ + piece.slot, piece.bytes);
  // Peers may have it mapped still: only the hole gives the pages back.
  (void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset_ + piece.slot),
                  static_cast<off_t>(piece.bytes));
  munmap(memory, piece.bytes);
  used_[piece.log2] &= ~(uint64_t{1} << piece.number);
  return piece.bytes;
}

std::optional<uint64_t> Large::look_up(uintptr_t at, size_t bytes) const {
  std::lock_guard guard(mutex_);
  auto after = pieces_.upper_bound(at);
  if (after == pieces_.begin()) return {};
  const auto& [begin, piece] = *--after;
  if (at - begin >= piece.bytes || bytes > piece.bytes - (at - begin)) return {};
  return offset_ + piece.slot + (at - begin);
}

}  // namespace weft::transport::shm
