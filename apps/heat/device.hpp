// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "../common/cuda.hpp"

namespace heat {

// A CUDA device: memory, and the sweep of the explicit scheme as a kernel. A call that fails ends the job and says why.
class Device {
 public:
  // For this process; those of a host take its devices in turn. Null: there is none, for the reason given.
  static std::unique_ptr<Device> open(int rank, std::string* reason);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  double* allocate(std::size_t count) { return cuda_->allocate(count); }  // zeros
  void release(double* memory) { cuda_->release(memory); }
  void copy(void* to, const void* from, std::size_t bytes) { cuda_->copy(to, from, bytes); }  // between host and device

  // Starts the computation of `rows` x `columns` points from (row, column) on. With `measure`, finish() tells of it.
  void start_sweep(const double* now, double* next, int stride, double ratio, int row, int rows, int column,
                   int columns, bool measure);
  // Waits for all sweeps. The largest |new - old| of those measured since the last call.
  double finish(bool measured);

 private:
  explicit Device(std::unique_ptr<common::Cuda> cuda);
  std::unique_ptr<common::Cuda> cuda_;
  void *stream_, *sweep_;
  double* change_;  // on the device: the largest one so far; not negative, so its bits are ordered as it is
};

}  // namespace heat
