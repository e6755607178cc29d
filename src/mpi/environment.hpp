// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// How far this process has come: before MPI_Init, between it and MPI_Finalize, after; and its sessions.

#include <mpi.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>

namespace weft::mpi {

// Of the world model: what MPI_Initialized and MPI_Finalized tell.
enum class Phase : uint8_t { before, running, finalized };

// Threads may open and close sessions, and one of them call MPI_Init and MPI_Finalize, at the same time: changes are
// made under a lock (environment.cpp). What has no atomic type is written before the phase or the first session that
// tells others to read it.
struct Environment {
  std::atomic<Phase> phase{Phase::before};
  std::atomic<int> sessions{0};  // open ones
  bool ended = false;            // the runtime has left the job: it cannot start again
  int thread_level = 0;          // MPI_THREAD_..., as provided
  pid_t main_thread = 0;         // who called MPI_Init
};
extern Environment environment;

[[nodiscard]] inline bool was_finalized() {
  return environment.phase.load(std::memory_order_acquire) == Phase::finalized;
}

// The highest level of thread support there is.
inline constexpr int highest_thread_level = MPI_THREAD_SERIALIZED;

// "MPI_THREAD_SERIALIZED".
[[nodiscard]] const char* thread_level_name(int level);

// Counts a session, and joins the job unless that was done. False: the process has left it already.
[[nodiscard]] bool open_session();

// Counts a session less, and leaves the job with the last one after MPI_Finalize.
void close_session();

}  // namespace weft::mpi
