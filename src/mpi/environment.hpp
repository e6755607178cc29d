// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// How far this process has come: before MPI_Init, between it and MPI_Finalize, after.

#include <sys/types.h>

#include <atomic>
#include <cstdint>

namespace weft::mpi {

enum class Phase : uint8_t { before, running, finalized };

struct Environment {
  std::atomic<Phase> phase{Phase::before};
  int thread_level = 0;   // MPI_THREAD_..., as provided
  pid_t main_thread = 0;  // who called MPI_Init
};
extern Environment environment;

[[nodiscard]] inline bool was_finalized() {
  return environment.phase.load(std::memory_order_relaxed) == Phase::finalized;
}

}  // namespace weft::mpi
