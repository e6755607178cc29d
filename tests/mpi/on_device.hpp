// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Data of tests at one of two places: in the host's memory, or in that of a device, for which the mock stands: the
// processor faults when it touches it.

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "expect.hpp"

namespace on_device {

enum class Where { host, device };
inline constexpr Where places[] = {Where::host, Where::device};

inline const char* driver = "mock";

inline MPI_Info device_info() {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "weft_mem_device", driver);
  return info;
}

inline void* allocate(size_t bytes) {
  MPI_Info info = device_info();
  void* memory = nullptr;
  if (MPI_Alloc_mem(static_cast<MPI_Aint>(bytes), info, &memory) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Info_free(&info);
  return memory;
}

// Moves bytes between host and device by a message to ourselves.
inline void move(void* to, const void* from, size_t bytes) {
  MPI_Sendrecv(from, static_cast<int>(bytes), MPI_BYTE, 0, 9, to, static_cast<int>(bytes), MPI_BYTE, 0, 9,
               MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

// Values at one of the places.
template <class T>
class DataOf {
 public:
  DataOf(Where where, std::vector<T> values) : values_(std::move(values)) {
    if (where == Where::host) return;
    there_ = allocate(bytes() + 1);
    move(there_, values_.data(), bytes());
  }
  DataOf(const DataOf&) = delete;
  DataOf& operator=(const DataOf&) = delete;
  ~DataOf() {
    if (there_ != nullptr) MPI_Free_mem(there_);
  }
  T* get() { return there_ != nullptr ? static_cast<T*>(there_) : values_.data(); }
  const std::vector<T>& values() {
    if (there_ != nullptr) move(values_.data(), there_, bytes());
    return values_;
  }
  // `values` are as many as before; the data stay where they are.
  void set(const std::vector<T>& values) {
    std::copy(values.begin(), values.end(), values_.begin());
    if (there_ != nullptr) move(there_, values_.data(), bytes());
  }
  size_t bytes() const { return values_.size() * sizeof(T); }

 private:
  std::vector<T> values_;
  void* there_ = nullptr;
};
using Data = DataOf<int>;

inline std::vector<int> numbered(size_t count, int from) {
  std::vector<int> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = from + static_cast<int>(i) * 3;
  return values;
}

inline void expect_same(const char* what, const std::vector<int>& is, const std::vector<int>& wanted) {
  size_t i = 0;
  while (i < wanted.size() && is[i] == wanted[i]) ++i;
  EXPECT(i == wanted.size(), "%s: element %zu of %zu is %d, not %d", what, i, wanted.size(), is[i], wanted[i]);
}

}  // namespace on_device
