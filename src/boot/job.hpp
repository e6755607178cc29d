// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// How ranks find each other. A job is what the launcher gave us: who we are, how many we are, and the segment of memory
// that all ranks of this host share. Ranks start under our own mpiexec (the segment is inherited), under any launcher
// that speaks PMI-1 (the ranks pass the segment among themselves), or alone (a singleton: a job of one).

#include <cstddef>
#include <cstdint>
#include <string>

namespace weft::boot {

enum class Launcher : uint8_t { singleton, mpiexec, pmi1 };

struct Job {
  int rank = 0;
  int size = 1;
  Launcher launcher = Launcher::singleton;
  int segment_fd = -1;     // memfd shared by all ranks of this host, mode 0600, sized by us, pages not yet reserved
  int app_number = -1;     // MPI_APPNUM: which program of `prog1 : prog2`, -1 when unknown
  int universe_size = -1;  // MPI_UNIVERSE_SIZE, -1 when unknown
  int local_ranks = 1;     // ranks on this host, and how many processors' worth of time they have together: with fewer
  int local_cpus = 1;      // processors than ranks, who waits must yield early
  std::string id;          // names the job in messages
};

// Joins the job the environment describes; `segment_bytes(size)` says how large the shared segment must be for a job of
// that many ranks (sparse: nothing is reserved by this). Ends the process with a message that names the launcher
// when one is visible but cannot be spoken to, and when ranks lie on several hosts. The segment begins with
// job_header_bytes(size) bytes of RankStatus (boot/status.hpp); `segment_bytes` counts them.
[[nodiscard]] Job join(size_t (*segment_bytes)(int size));

// Says goodbye to the launcher. Collective under PMI-1.
void leave(Job& job);

// Ends the whole job with this exit status, after writing `why` unless it is null or empty. Never returns.
[[noreturn]] void abort(int status, const char* why);

const char* name(Launcher launcher);

}  // namespace weft::boot
