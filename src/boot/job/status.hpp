// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The head of a job's shared segment: one line per rank that tells the launcher how far the rank has come. It lets
// mpiexec tell "ended without MPI_Finalize" from "ended". The segment begins with job_header_bytes(size) bytes of these
// lines; the transport's data begin behind them.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft::boot {

enum class Phase : uint32_t {
  started = 0,      // MPI_Init was not called, or has not come far
  initialised = 1,  // MPI_Init is done, MPI_Finalize is not
  finalized = 2,    // the process may end in any way; a session makes it initialised again
  aborted = 3,      // the rank itself ended the job and has said why
  leaving = 4,      // in MPI_Finalize: it waits for those that it is connected with
  lost = 5,         // by the launcher: it has ended, and was not to; processes of other jobs look for that
  left = 6,         // the process exits after finalized
};
inline constexpr Phase last_phase = Phase::left;

// Written by the rank alone, read by the launcher after the rank has ended (or by a tool that looks on).
struct alignas(64) RankStatus {
  std::atomic<uint32_t> phase;  // a Phase
  std::atomic<uint32_t> pid;    // the process that took this rank; 0: none has
  // In the first line of a segment: the sum of the settings that ranks must have alike, not 0; the first rank to come
  // sets it.
  std::atomic<uint64_t> alike;
  std::atomic<uint32_t> told;  // likewise: 1 once a rank says that it is not alike
  std::atomic<uint32_t> gone;  // by mpiexec: 1 + the status of a process that ended before its MPI_Init
  // In the first line: bytes that the host's ranks have given to their programs (transport/shm/promises.hpp).
  std::atomic<uint64_t> promised;
  std::atomic<uint32_t> fell_back;  // likewise: 1 once a rank has said that memory is not of the kind that was wished
  // By mpiexec, before it starts a process in this place: how many had it before; and the number of its spawn, from 1
  // on.
  std::atomic<uint32_t> generation;
  std::atomic<uint32_t> world;
  std::atomic<uint32_t> grown;  // in the first line, by mpiexec: 1 before the first process is spawned
  // In the first line: how the transport lays out each rank's part of the segment (transport/shm/layout_sum.hpp), not
  // 0.
  std::atomic<uint32_t> layout;
  std::atomic<uint32_t>
      first_aborted;  // in the first line: 1 + the place of the rank that ended the job first; 0: none
  // In the first line, of a job that another launcher has started: the mpiexec that its ranks have started for it
  // (boot/connect/own_launcher.hpp). 0: none; 1: a rank starts it; otherwise 1 and the number by which it is found.
  std::atomic<uint32_t> own_launcher;
  std::atomic<uint32_t> pid_space;  // the namespace in which `pid` is that number: its inode's lower half
};
static_assert(sizeof(RankStatus) == 64 && alignof(RankStatus) == 64);
static_assert(offsetof(RankStatus, phase) == 0 && offsetof(RankStatus, pid) == 4);
static_assert(offsetof(RankStatus, alike) == 8 && offsetof(RankStatus, told) == 16);
static_assert(offsetof(RankStatus, gone) == 20 && offsetof(RankStatus, promised) == 24);
static_assert(offsetof(RankStatus, generation) == 36 && offsetof(RankStatus, world) == 40);
static_assert(offsetof(RankStatus, grown) == 44 && offsetof(RankStatus, layout) == 48);
static_assert(offsetof(RankStatus, first_aborted) == 52);
static_assert(offsetof(RankStatus, own_launcher) == 56 && offsetof(RankStatus, pid_space) == 60);

constexpr size_t job_header_bytes(int size) {
  return (static_cast<size_t>(size) * sizeof(RankStatus) + 4095) & ~size_t{4095};
}

// `segment` is where the job's segment is mapped.
inline RankStatus& status_of(void* segment, int rank) {
  return static_cast<RankStatus*>(segment)[rank];
}
inline void set_phase(void* segment, int rank, Phase phase) {
  status_of(segment, rank).phase.store(static_cast<uint32_t>(phase), std::memory_order_release);
}

}  // namespace weft::boot
