// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/heap.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "boot/job/segment.hpp"
#include "pages/huge.hpp"

namespace weft::transport::shm {

void Heap::open(const base::Descriptor& file, char* base, size_t offset, size_t bytes) {
  file_ = file;
  base_ = base;
  offset_ = offset;
  size_ = bytes;
}

void* Heap::allocate(size_t bytes, size_t alignment, Pages pages) {
  constexpr size_t page = 4096;
  if (bytes > size_ || alignment > size_) {
    errno = ENOMEM;
    return nullptr;
  }
  bytes = bytes == 0 ? page : (bytes + page - 1) / page * page;
  // The base is aligned to pages alone.
  const auto base = reinterpret_cast<uintptr_t>(base_.load(std::memory_order_relaxed));
  auto aligned = [&](size_t at) { return alignment <= page ? at : ((base + at + alignment - 1) & -alignment) - base; };
  std::lock_guard guard(mutex_);
  size_t start = aligned(0);  // first fit
  for (const auto& [at, piece] : used_) {
    if (at >= start && at - start >= bytes) break;
    start = std::max(start, aligned(at + piece.bytes));
  }
  if (start + bytes > size_) {
    errno = ENOMEM;
    return nullptr;
  }
  if (pages == Pages::reserved && !boot::reserve_segment(file_.needed(), offset_ + start, bytes)) return nullptr;
  if (pages == Pages::reserved) pages::make_huge(base_ + start, bytes);
  used_.emplace(start, Piece{bytes, pages});
  (void)madvise(base_ + start, bytes, MADV_DODUMP);
  return base_ + start;
}

Heap::Piece Heap::release(void* memory) {
  std::lock_guard guard(mutex_);
  auto found = used_.find(static_cast<size_t>(static_cast<char*>(memory) - base_));
  if (found == used_.end()) return {};
  const Piece piece = found->second;
  // The range stays ours; its contents are gone, as with free().
  (void)fallocate(file_.number(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  static_cast<off_t>(offset_ + found->first), static_cast<off_t>(piece.bytes));
  (void)madvise(base_ + found->first, piece.bytes, MADV_DONTDUMP);
  used_.erase(found);
  return piece;
}

}  // namespace weft::transport::shm
