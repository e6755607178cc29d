// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Collective operations on teams and on active sets (OpenSHMEM 1.6, 9.9): those of coll, on the team's communicator.
// Sizes are bytes of one PE's part. The forms on teams return 0; without memory they end the job.

#include "shmem/atomic.hpp"
#include "shmem/rma.hpp"
#include "shmem/team.hpp"

namespace weft::shmem {

int team_sync(const char* function, shmem_team_t team);

int broadcast(const char* function, shmem_team_t team, void* dest, const void* source, size_t bytes, int root);
int collect(const char* function, shmem_team_t team, void* dest, const void* source, size_t bytes);
int fcollect(const char* function, shmem_team_t team, void* dest, const void* source, size_t bytes);
int alltoall(const char* function, shmem_team_t team, void* dest, const void* source, size_t bytes);
int alltoalls(const char* function, shmem_team_t team, void* dest, const void* source, const Stride& stride);
int reduce(const char* function, shmem_team_t team, void* dest, const void* source, size_t count, Reduction reduction,
           Basic basic);
int inscan(const char* function, shmem_team_t team, void* dest, const void* source, size_t count, Basic basic);
int exscan(const char* function, shmem_team_t team, void* dest, const void* source, size_t count, Basic basic);

void barrier_in(const char* function, const ActiveSet& set);
void sync_in(const char* function, const ActiveSet& set);
void broadcast_in(const char* function, const ActiveSet& set, void* dest, const void* source, size_t bytes, int root);
void collect_in(const char* function, const ActiveSet& set, void* dest, const void* source, size_t bytes);
void fcollect_in(const char* function, const ActiveSet& set, void* dest, const void* source, size_t bytes);
void alltoall_in(const char* function, const ActiveSet& set, void* dest, const void* source, size_t bytes);
void alltoalls_in(const char* function, const ActiveSet& set, void* dest, const void* source, const Stride& stride);
void reduce_in(const char* function, const ActiveSet& set, void* dest, const void* source, int count,
               Reduction reduction, Basic basic);

}  // namespace weft::shmem
