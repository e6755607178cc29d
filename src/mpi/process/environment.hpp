// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// How far this process has come: before MPI_Init, between it and MPI_Finalize, after; and its sessions.

#include <mpi.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>

namespace weft::mpi {

// The phase of the world model, which MPI_Initialized and MPI_Finalized report.
enum class WorldPhase : uint8_t { before, running, finalized };

// Threads may open and close sessions, and one of them call MPI_Init and MPI_Finalize, at the same time: changes are
// made under a lock (environment.cpp). Members without an atomic type are written before the phase or the first session
// that tells others to read them.
struct Environment {
  std::atomic<WorldPhase> phase{WorldPhase::before};
  std::atomic<int> sessions{0};  // open ones
  bool joined = false;           // MPI takes part in the job (core/runtime/init_refcount.hpp)
  int thread_level = 0;          // MPI_THREAD_..., as provided
  pid_t main_thread = 0;         // the caller of MPI_Init
  pid_t process = 0;             // whose exit ends MPI, where sessions alone were opened
};
extern Environment environment;

// The highest level of thread support there is.
inline constexpr int highest_thread_level = MPI_THREAD_MULTIPLE;

// The level of a session that asks for none: enough for any use from one thread at a time, and no locks.
inline constexpr int default_session_level = MPI_THREAD_SERIALIZED;

// "MPI_THREAD_SERIALIZED".
[[nodiscard]] const char* thread_level_name(int level);
// The level of that name; `otherwise` when there is none.
[[nodiscard]] int thread_level_of(const char* name, int otherwise);

// Counts a session, and joins the job unless that was done. Whether threads may communicate at the same time is settled
// when the process joins: `level` is what is asked for, and then what there is. False: the process has left the job, as
// it exits.
[[nodiscard]] bool open_session(int& level);

// Counts a session less. After MPI_Finalize the process may end with the last one (core/runtime/init_refcount.hpp).
void close_session();

// While there is one of these, the process neither joins nor leaves the job.
class Standstill {
 public:
  Standstill();
  ~Standstill();
  Standstill(const Standstill&) = delete;
  Standstill& operator=(const Standstill&) = delete;

  [[nodiscard]] bool has_joined() const;
  [[nodiscard]] bool has_left() const;
};

}  // namespace weft::mpi
