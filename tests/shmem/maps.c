// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// PE n is rank n of MPI_COMM_WORLD, so that teams and communicators can be made of each other (docs/guide/pgas.md,
// "With MPI"): every second PE as a team, and its communicator.
#include <mpi.h>
#include <shmem.h>
#include <stdlib.h>

#include "expect.h"

static MPI_Comm comm_of(shmem_team_t team) {
  const int size = shmem_team_n_pes(team);
  int* ranks = malloc((size_t)size * sizeof *ranks);
  for (int i = 0; i < size; ++i) ranks[i] = shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD);
  MPI_Group world, group;
  MPI_Comm comm;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, size, ranks, &group);
  MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &comm);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  free(ranks);
  return comm;
}

// The PE of a rank.
static int pe_of(MPI_Comm comm, int rank) {
  MPI_Group world, group;
  int pe;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Comm_group(comm, &group);
  MPI_Group_translate_ranks(group, 1, &rank, world, &pe);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  return pe;
}

int main(void) {
  MPI_Init(NULL, NULL);
  shmem_init();
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  EXPECT(rank == me);
  long* sum = shmem_calloc(2, sizeof *sum);
  shmem_team_t team;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (pes + 1) / 2, NULL, 0, &team);
  if (team != SHMEM_TEAM_INVALID) {
    MPI_Comm comm = comm_of(team);
    int size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    EXPECT(rank == shmem_team_my_pe(team));
    EXPECT(size == shmem_team_n_pes(team));
    for (int r = 0; r < size; ++r) EXPECT(pe_of(comm, r) == 2 * r);
    // Both sum up the same.
    long mine = me + 1, by_mpi = 0;
    MPI_Allreduce(&mine, &by_mpi, 1, MPI_LONG, MPI_SUM, comm);
    sum[1] = mine;
    shmem_long_sum_reduce(team, sum, sum + 1, 1);
    EXPECT(sum[0] == by_mpi);
    MPI_Comm_free(&comm);
    shmem_team_destroy(team);
  }
  const int failed = failures();
  shmem_finalize();
  MPI_Finalize();
  return failed;
}
