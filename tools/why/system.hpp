// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Jobs on this host, as /proc shows them. Nothing is changed, and no process is stopped.

#include <sys/types.h>

#include <string>
#include <vector>

#include "why/snapshot.hpp"

namespace weft::why {

// The processes of a job on this host: those that have its shared segment.
struct Job {
  uint64_t device = 0;  // of the segment
  uint64_t inode = 0;
  std::vector<pid_t> pids;
  std::string name;  // as mpiexec gave it; may be empty
};

// The jobs of processes that we may look into.
[[nodiscard]] std::vector<Job> find_jobs();
// Whether a process is of this job, or its parent's parent's parent is.
[[nodiscard]] bool is_of(const Job& job, pid_t pid);

// Looks twice, a fifth of a second apart: a wait that changed in between does not stand still.
[[nodiscard]] Snapshot look_at(const Job& job);

}  // namespace weft::why
