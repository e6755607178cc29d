// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Data in the memory of a device, and host memory that stands for it in an operation: laid out alike, filled before
// the operation begins, copied back after it has written.

#include <memory>
#include <string>
#include <vector>

#include "core/object/request.hpp"
#include "datatype/on_device.hpp"
#include "device/api/pins.hpp"

namespace weft::mpi {

using core::Type;

struct GiveBack {
  size_t bytes = 0;
  void operator()(char* memory) const { device::give_pinned(memory, bytes); }
};

class Twin {
 public:
  // Elements of one type. The type must live as long as the twin.
  struct TwinData {
    const void* buffer;
    int64_t count;
    const Type* type;
  };

  // The span of all pieces, which are at fixed distances from each other. There is at least one with data.
  explicit Twin(std::vector<TwinData> pieces);

  bool has_memory() const { return memory_ != nullptr; }
  // The address that stands for one of the device.
  void* host(const void* address) const;

  // All data from the device; the first `bytes` of each piece back to it. Empty: done; otherwise the reason why not.
  [[nodiscard]] std::string fetch() const;
  [[nodiscard]] std::string store(int64_t bytes = INT64_MAX) const;

 private:
  std::string move(const TwinData& piece, int64_t bytes, bool to_device) const;

  std::vector<TwinData> pieces_;
  uintptr_t low_ = UINTPTR_MAX;  // address of the first byte of the span
  std::unique_ptr<char, GiveBack> memory_;
};

}  // namespace weft::mpi
