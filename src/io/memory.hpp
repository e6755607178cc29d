// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The user's memory of an access, as a stream of bytes without gaps.

#include <cstdint>
#include <memory>

#include "datatype/pack.hpp"
#include "datatype/type.hpp"
#include "device/api/device.hpp"

namespace weft::io {

using datatype::Type;

struct Memory {
  void* buffer = nullptr;
  int64_t count = 0;
  Type* type = &datatype::byte_type;
  bool on_device = false;

  [[nodiscard]] int64_t bytes() const { return count * type->size; }
  // Whether the memory is one piece that the system and the processor reach.
  [[nodiscard]] bool is_contiguous() const { return type->contiguous && !on_device; }
  // The address of a position, in contiguous memory only.
  [[nodiscard]] char* at(int64_t position) const { return static_cast<char*>(buffer) + position; }

  void take_out(int64_t position, void* to, int64_t bytes) const {
    datatype::packing(on_device)(*type, count, buffer, position, to, bytes);
  }
  void put_in(int64_t position, const void* from, int64_t bytes) const {
    datatype::unpacking(on_device)(*type, count, buffer, position, from, bytes);
  }
  // Whether one of these failed, in the calling thread, since it was last asked.
  [[nodiscard]] bool copy_failed() const { return on_device && device::take_failure(); }
};

// Temporary memory; nullptr when there is none.
struct FreeBytes {
  void operator()(char* bytes) const { ::free(bytes); }
};
using Bytes = std::unique_ptr<char[], FreeBytes>;
[[nodiscard]] inline Bytes allocate(int64_t bytes) {
  return Bytes(static_cast<char*>(::malloc(bytes > 0 ? static_cast<size_t>(bytes) : 1)));
}
// Allocates memory that begins at a page, for direct I/O.
[[nodiscard]] inline Bytes allocate_pages(int64_t bytes) {
  constexpr size_t page = 4096;
  const size_t rounded = (static_cast<size_t>(bytes) + page) / page * page;
  return Bytes(static_cast<char*>(::aligned_alloc(page, rounded)));
}

}  // namespace weft::io
