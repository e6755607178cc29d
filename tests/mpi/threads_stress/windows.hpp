// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "threads_stress/traffic.hpp"

namespace stress {

// Constructor and finish() are collective; run() is its thread's.
class Windows {
 public:
  explicit Windows(uint64_t seed);
  void run(double end);
  uint64_t finish();  // puts of all ranks

 private:
  Random random_;
  MPI_Win window_ = MPI_WIN_NULL;
  unsigned char* memory_ = nullptr;
  uint64_t puts_ = 0;
};

}  // namespace stress
