// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A job as a process of it knows it: our rank, the number of ranks, and the segment of memory that all ranks of this
// host share. The process gets it from boot/start/join.hpp.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/descriptor.hpp"

namespace weft::boot {

enum class Launcher : uint8_t { singleton, mpiexec, pmi1, pmi2, pmix };

// A job can grow: the segment of a host has spare places, which processes take that are spawned (docs/design/spawn.md).
// A process's rank in the job is its place, unique among those that live; MPI_COMM_WORLD is a run of places, those of
// the processes started together.

// How a spawned process finds those that spawned it.
struct Origin {
  int root = -1;        // the place of the process that asked for it; -1: this process was not spawned
  uint64_t number = 0;  // of the spawn, unique in the job
};

struct Job {
  int rank = 0;
  int size = 1;   // of MPI_COMM_WORLD
  int first = 0;  // its rank 0 has this rank in the job: 0 but in processes that were spawned
  int started =
      0;           // ranks that the job began with, 0 to here - 1; the choices that all ranks make alike follow from it
  int places = 0;  // ranks in the job are below it
  uint32_t generation = 0;  // how many processes had our place before
  Origin origin;
  int number = 0;  // by which other jobs of the user on this host reach it (boot/connect/job_number.hpp); 0: not at all
  // The socket (boot/connect/service.hpp) of a launcher that starts processes; empty: there is none.
  std::string service;
  Launcher launcher = Launcher::singleton;
  base::Descriptor segment;  // memfd shared by all ranks of this host, mode 0600, sized by us, pages not yet reserved
  int app_number = -1;       // MPI_APPNUM: which program of `prog1 : prog2`, -1 when unknown
  int universe_size = -1;    // MPI_UNIVERSE_SIZE, -1 when unknown
  int local_ranks = 1;    // ranks on this host, and how many processors' worth of time they have together: with fewer
  int local_cpus = 1;     // processors than ranks, waiting ranks must yield early
  std::vector<int> here;  // the ranks that began on this host in order, of a job on several hosts; otherwise empty
  // A job on several hosts has places for spawned processes on each host, whose ranks follow those that the job began
  // with, host by host; the second number is the first of these on this host.
  int spare = 0;
  int first_spare = 0;
  std::string secret;  // of such a job, fresh and known to its ranks alone: 32 hexadecimal digits
  std::string id;      // names the job in messages

  bool one_host() const { return here.empty(); }
  bool can_grow() const { return places > started; }
  // The first rank on this host: a number of its own for each host.
  int host() const { return here.empty() ? 0 : here.front(); }
  // The places of this host's segment, and how many of them the job began with.
  int places_here() const { return one_host() ? places : local_ranks + spare; }
  int started_here() const { return one_host() ? started : static_cast<int>(here.size()); }
  // A rank's place among those of this host; -1 when it is on another.
  int place_here(int job_rank) const;
  // The rank of a place of this host.
  int rank_at(int place) const;
};

const char* name(Launcher launcher);

}  // namespace weft::boot
