// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

#include "threads_stress/traffic.hpp"

namespace stress {

// Constructor, open(), close() and finish() are collective; run() is of each of its threads.
class Windows {
 public:
  static constexpr int threads = 2;  // of a rank

  explicit Windows(uint64_t seed);
  void open() { MPI_Win_lock_all(0, window_); }
  void run(int thread, double end);
  void close() { MPI_Win_unlock_all(window_); }
  uint64_t finish();  // puts of all ranks

 private:
  uint64_t seed_;
  MPI_Win window_ = MPI_WIN_NULL;
  unsigned char* memory_ = nullptr;
  std::atomic<uint64_t> puts_ = 0;
};

}  // namespace stress
