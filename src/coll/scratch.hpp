// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Memory for one operation: on the stack when it is small, so that small collectives allocate nothing.

#include <cstdlib>
#include <cstring>

#include "datatype/pack.hpp"
#include "datatype/type.hpp"

namespace weft::coll {

// Copies elements of one type between two places.
inline void copy_elements(const datatype::Type& type, int64_t count, const void* from, void* to) {
  const int64_t bytes = count * type.size;
  if (bytes == 0) return;
  if (type.contiguous) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
  } else {
    datatype::copy(type, count, from, type, count, to, bytes);
  }
}

class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::free(heap_); }

  // Room for bytes; nullptr when there is no memory.
  [[nodiscard]] void* bytes(int64_t size) {
    if (size <= static_cast<int64_t>(sizeof inline_)) return inline_;
    return heap_ = std::malloc(static_cast<size_t>(size));
  }

  // An address for `count` elements as the user's buffer is one: the data may begin before or behind it.
  [[nodiscard]] void* elements(const datatype::Type& type, int64_t count) {
    const int64_t reach = count > 1 ? (count - 1) * type.extent : 0;
    const int64_t low = type.true_lower_bound + (reach < 0 ? reach : 0);
    void* memory = bytes(type.true_extent + (reach < 0 ? -reach : reach));
    if (memory == nullptr) return nullptr;
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(memory) - static_cast<uintptr_t>(low));
  }

 private:
  alignas(64) unsigned char inline_[1024];
  void* heap_ = nullptr;
};

}  // namespace weft::coll
