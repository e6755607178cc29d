// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Addresses that a driver does not know are memory of the host, or were memory of a device until it was freed: then the
// processor cannot read them. The kernel is asked, once for each page, as far as this table holds them.

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace weft::device {

class PlainPages {
 public:
  bool holds(const void* address) const {
    const uintptr_t page = page_of(address);
    return pages_[page % size].load(std::memory_order_relaxed) == page;
  }
  // Notes the page if the processor can read it, as memory of the host.
  bool try_to_read(const void* address) {
    if (!is_readable(address)) return false;
    const uintptr_t page = page_of(address);
    pages_[page % size].store(page, std::memory_order_relaxed);
    return true;
  }
  // It is memory of a device now.
  void forget(const void* address) {
    if (holds(address)) pages_[page_of(address) % size].store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr size_t size = 1024;
  static constexpr int log2_bytes = 12;

  static uintptr_t page_of(const void* address) { return reinterpret_cast<uintptr_t>(address) >> log2_bytes; }

  // A change of the signal mask that is none: the kernel reads the new mask before it refuses the unknown way.
  static bool is_readable(const void* address) {
    constexpr int no_way = -1;
    constexpr size_t mask_bytes = 8;
    const uintptr_t word = reinterpret_cast<uintptr_t>(address) / mask_bytes * mask_bytes;
    return syscall(SYS_rt_sigprocmask, no_way, word, nullptr, mask_bytes) == 0 || errno != EFAULT;
  }

  std::atomic<uintptr_t> pages_[size] = {};
};

inline PlainPages plain_pages;

}  // namespace weft::device
