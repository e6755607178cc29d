// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Memory of frames that a carrier has registered with a library, and the library's handles. More may come while other
// threads look: pieces stay until all of them go.

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace weft::transport::net {

template <class Handle>
class Lent {
 public:
  ~Lent() {
    close([](Handle) {});
  }

  // Thread-safe.
  void add(const void* memory, size_t bytes, Handle handle) {
    auto* const piece = new LentRange{static_cast<const unsigned char*>(memory), bytes, handle, nullptr};
    piece->next = last_.load(std::memory_order_relaxed);
    while (!last_.compare_exchange_weak(piece->next, piece, std::memory_order_release, std::memory_order_relaxed)) {
    }
  }
  // The handle of the piece that an address lies in; `none` without one. Thread-safe.
  Handle handle_of(const void* memory, Handle none) const {
    const std::less<const void*> before;
    for (const LentRange* p = last_.load(std::memory_order_acquire); p != nullptr; p = p->next) {
      if (!before(memory, p->begin) && before(memory, p->begin + p->bytes)) return p->handle;
    }
    return none;
  }
  // Gives all handles back, when nobody looks any more.
  template <class Close>
  void close(Close close) {
    for (const LentRange* p = last_.exchange(nullptr, std::memory_order_relaxed); p != nullptr;) {
      const std::unique_ptr<const LentRange> gone(std::exchange(p, p->next));
      close(gone->handle);
    }
  }

 private:
  struct LentRange {
    const unsigned char* begin;
    size_t bytes;
    Handle handle;
    const LentRange* next;
  };
  std::atomic<const LentRange*> last_ = nullptr;
};

}  // namespace weft::transport::net
