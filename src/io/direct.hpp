// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Direct I/O (the hints direct_read and direct_write): a second descriptor of a file, by which the system moves whole
// blocks past its page cache. Bytes at the ends of an access that are no whole block go through the cache; the system
// keeps both in agreement.

#include <atomic>
#include <cstdint>

#include "base/descriptor.hpp"
#include "io/memory.hpp"

namespace weft::io {

struct Direct {
  static constexpr int64_t block = 4096;              // of offsets, sizes and addresses
  static constexpr int64_t copied_at_once = 1 << 20;  // where the memory does not begin at a block

  base::Descriptor descriptor;
  bool reads = false;
  bool writes = false;
  std::atomic<bool> refused = false;  // the file system wants larger blocks: all goes through the cache

  [[nodiscard]] bool moves(bool write) const {
    return descriptor.is_open() && (write ? writes : reads) && !refused.load(std::memory_order_relaxed);
  }
};

// The next call of an access.
struct NextCall {
  int fd;
  size_t bytes;
  bool direct = false;
  bool copied = false;  // by aligned memory
};

// `direct`: nullptr where there is none.
[[nodiscard]] NextCall way_of(int fd, const Direct* direct, bool writes, const void* memory, int64_t offset,
                              int64_t bytes);

// Memory that begins at a block, got when it is first asked for.
class Aligned {
 public:
  char* get() {
    if (memory_ == nullptr) {
      memory_.reset(static_cast<char*>(::aligned_alloc(Direct::block, static_cast<size_t>(Direct::copied_at_once))));
    }
    return memory_.get();
  }

 private:
  Bytes memory_;
};

}  // namespace weft::io
