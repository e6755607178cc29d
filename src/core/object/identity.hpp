// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Which process this is: its job, its numbers there, and its share of the host. Written by start(), rest(), resume()
// and stop(), and while the job grows (core/dynamic/processes.hpp).

#include <cstdint>

#include "boot/job/job.hpp"

namespace weft::boot {
struct RankStatus;
}

namespace weft::core {

struct Identity {
  bool running = false;   // from start() to stop()
  bool rests = false;     // between rest() and resume()
  int32_t rank = 0;       // in the job
  int32_t size = 1;       // of MPI_COMM_WORLD
  int32_t first = 0;      // rank in the job of its rank 0
  int32_t places = 1;     // ranks in the job are below it: boot/job/job.hpp
  int32_t cpus = 1;       // that this process may use
  int32_t cpu_share = 1;  // the same when the ranks of this host share all evenly
  boot::Job job;
  void* status_lines = nullptr;  // the launcher's view of the ranks of this host: boot/job/status.hpp

  // How many places this host's segment has, and which of them is ours.
  int32_t places_here() const { return job.one_host() ? places : job.places_here(); }
  int32_t place_here() const { return job.place_here(rank); }
  // The launcher's line of a place of this host.
  boot::RankStatus& line_at(int32_t place) const;
};

// It points into the current world (core/runtime/world.hpp).
[[gnu::visibility("hidden")]] extern Identity* identity;

}  // namespace weft::core
