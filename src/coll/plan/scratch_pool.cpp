// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/plan/scratch_pool.hpp"

#include <sys/mman.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include "pages/huge.hpp"
#include "transport/api/memory.hpp"

namespace weft::coll {

namespace {

constexpr int least = 15;  // log2 of the bytes of the smallest pieces
constexpr int most = 21;
constexpr int of_each = 2;

// Any thread takes and gives: a piece belongs to whoever has exchanged it for nullptr.
constinit std::atomic<void*> pool[most - least + 1][of_each] = {};

// -1: not of a size that is pooled.
int log2_of(int64_t bytes) {
  if (bytes <= int64_t{1} << (least - 1) || bytes > int64_t{1} << most) return -1;
  return std::bit_width(static_cast<uint64_t>(bytes) - 1);
}

// More than is pooled: in huge pages, if the system has some, which are few.
void* take_large(int64_t bytes) {
  const size_t rounded = (static_cast<size_t>(bytes) + pages::huge_boundary - 1) & -pages::huge_boundary;
  void* memory = std::aligned_alloc(pages::huge_boundary, rounded);
  const int error = errno;
  if (memory != nullptr) (void)madvise(memory, rounded, MADV_HUGEPAGE);
  errno = error;
  return memory;
}

}  // namespace

void* take_memory(int64_t bytes) {
  const int log2 = log2_of(bytes);
  if (bytes > int64_t{1} << most && !transport::minimum_memory()) return take_large(bytes);
  if (log2 < 0) return std::malloc(bytes > 0 ? static_cast<size_t>(bytes) : 1);
  for (std::atomic<void*>& one : pool[log2 - least]) {
    if (one.load(std::memory_order_relaxed) == nullptr) continue;
    void* memory = one.exchange(nullptr, std::memory_order_acquire);  // pairs with the release in give_memory()
    if (memory != nullptr) return memory;
  }
  return std::aligned_alloc(64, size_t{1} << log2);
}

void give_memory(void* memory, int64_t bytes) {
  const int log2 = log2_of(bytes);
  if (log2 >= 0 && !transport::minimum_memory()) {
    for (std::atomic<void*>& one : pool[log2 - least]) {
      void* none = nullptr;
      if (one.compare_exchange_strong(none, memory, std::memory_order_release, std::memory_order_relaxed)) return;
    }
  }
  std::free(memory);
}

int64_t pooled_bytes() {
  int64_t sum = 0;
  for (int i = 0; i <= most - least; ++i) {
    for (const std::atomic<void*>& one : pool[i]) {
      if (one.load(std::memory_order_relaxed) != nullptr) sum += int64_t{1} << (least + i);
    }
  }
  return sum;
}

}  // namespace weft::coll
