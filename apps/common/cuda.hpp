// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace common {

// CUDA's driver and one device of it: memory, streams, and kernels from the text of PTX. The driver's library is loaded
// when one is asked for, so that programs build and run without it. A call that fails ends the job and says why.
class Cuda {
 public:
  // For this process, with the kernels of `ptx`; those of a host take its devices in turn. `program` names it in
  // messages. Null: there is none, for the reason given.
  static std::unique_ptr<Cuda> open(const char* program, int rank, const char* ptx, std::string* reason);
  ~Cuda();
  Cuda(const Cuda&) = delete;
  Cuda& operator=(const Cuda&) = delete;

  // Each thread but the one that opened it, before its first call.
  void enter() const;

  [[nodiscard]] double* allocate(std::size_t count) const;  // zeros
  void release(double* memory) const;
  void copy(void* to, const void* from, std::size_t bytes) const;  // between host and device; done when it returns

  [[nodiscard]] void* make_stream() const;  // beside the copies of others
  void wait(void* stream) const;
  [[nodiscard]] void* kernel(const char* name) const;
  struct Shape {
    unsigned grid_x, grid_y, block_x, block_y;
  };
  // The arguments are copied.
  void launch(void* kernel, const Shape& shape, void* stream, void** arguments) const;

 private:
  Cuda();
  struct Driver;
  std::unique_ptr<Driver> driver_;
};

}  // namespace common
