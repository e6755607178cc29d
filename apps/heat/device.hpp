// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace heat {

// A CUDA device: memory, and the sweep of the explicit scheme as a kernel. The driver's library is loaded when one is
// asked for, so that the program builds and runs without it. A call that fails ends the job and says why.
class Device {
 public:
  // For this process; those of a host take its devices in turn. Null: there is none, for the reason given.
  static std::unique_ptr<Device> open(int rank, std::string* reason);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  double* allocate(std::size_t count);  // zeros
  void release(double* memory);
  void copy(void* to, const void* from, std::size_t bytes);  // between host and device

  // Starts the computation of `rows` x `columns` points from (row, column) on. With `measure`, finish() tells of it.
  void start_sweep(const double* now, double* next, int stride, double ratio, int row, int rows, int column,
                   int columns, bool measure);
  // Waits for all sweeps. The largest |new - old| of those measured since the last call.
  double finish(bool measured);

 private:
  Device();
  struct Driver;
  std::unique_ptr<Driver> driver_;
};

}  // namespace heat
