// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// It counts as calls.c does, for calls of two ranks together: MPI_Allreduce of 8 bytes, MPI_Barrier, MPI_Recv of 8
// bytes that are there already, MPI_Iallreduce of 8 bytes, MPI_Start of a persistent one, MPI_Reduce, MPI_Bcast and
// MPI_Scatter of 8 bytes with the root. Rank 0 is counted, and comes when rank 1 has: nothing is waited for.
//   meetings N
#include <mpi.h>
#include <stdatomic.h>
#include <unistd.h>

#include "bench.h"

enum { BATCH = 16, LATER_US = 10000, STEPS = 8 };

static __attribute__((noinline)) void count_allreduce(const double* mine, double* sum) {
  MPI_Allreduce(mine, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static __attribute__((noinline)) void count_barrier(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

static __attribute__((noinline)) void count_recv(long* data) {
  for (int i = 0; i < BATCH; ++i) MPI_Recv(&data[i], 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static __attribute__((noinline)) void count_iallreduce(const double* mine, double* sum, MPI_Request* request) {
  MPI_Iallreduce(mine, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, request);
}

static __attribute__((noinline)) void count_start(MPI_Request* request) {
  MPI_Start(request);
}

static __attribute__((noinline)) void count_reduce(const double* mine, double* sum) {
  MPI_Reduce(mine, sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

static __attribute__((noinline)) void count_bcast(double* data) {
  MPI_Bcast(data, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static __attribute__((noinline)) void count_scatter(const double* all, double* own) {
  MPI_Scatter(all, 1, MPI_DOUBLE, own, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

// Rank 1 has come so far, and a little later it is inside its call.
static void await(_Atomic long* steps, long step) {
  while (atomic_load(steps) < step) usleep(100);
  usleep(LATER_US);
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? (int)bench_size(argv[1]) : 0;
  if (rounds < 1) bench_die("usage: meetings ROUNDS");
  MPI_Init(&argc, &argv);
  const int rank = bench_rank_of(2);
  _Atomic long* steps;
  MPI_Win window;
  MPI_Win_allocate_shared(rank == 1 ? sizeof *steps : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &steps, &window);
  if (rank == 0) {
    MPI_Aint size;
    int unit;
    MPI_Win_shared_query(window, 1, &size, &unit, &steps);
  } else {
    atomic_store(steps, 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  double mine = 0, later = 0, again = 0;
  MPI_Request request, repeated;
  MPI_Allreduce_init(&mine, &again, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &repeated);
  for (long n = 0; n < rounds; ++n) {
    mine = (double)(rank + n);
    double sum = 0, reduced = 0, told = rank == 0 ? (double)n : 0, own = 0;
    const double parts[2] = {mine, mine + 1};
    long data[BATCH];
    if (rank == 0) {
      await(steps, STEPS * n + 1);
      count_allreduce(&mine, &sum);
      await(steps, STEPS * n + 2);
      count_barrier();
      await(steps, STEPS * n + 3);
      count_recv(data);
      await(steps, STEPS * n + 4);
      count_iallreduce(&mine, &later, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      await(steps, STEPS * n + 5);
      count_start(&repeated);
      MPI_Wait(&repeated, MPI_STATUS_IGNORE);
      await(steps, STEPS * n + 6);
      count_reduce(&mine, &reduced);
      await(steps, STEPS * n + 7);
      count_bcast(&told);
      await(steps, STEPS * n + 8);
      count_scatter(parts, &own);
    } else {
      atomic_fetch_add(steps, 1);
      MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      atomic_fetch_add(steps, 1);
      MPI_Barrier(MPI_COMM_WORLD);
      for (int i = 0; i < BATCH; ++i) data[i] = n * BATCH + i;
      for (int i = 0; i < BATCH; ++i) MPI_Send(&data[i], 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
      atomic_fetch_add(steps, 1);
      MPI_Iallreduce(&mine, &later, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
      atomic_fetch_add(steps, 1);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Start(&repeated);
      atomic_fetch_add(steps, 1);
      MPI_Wait(&repeated, MPI_STATUS_IGNORE);
      atomic_fetch_add(steps, 1);
      MPI_Reduce(&mine, &reduced, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
      atomic_fetch_add(steps, 1);
      MPI_Bcast(&told, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
      atomic_fetch_add(steps, 1);
      MPI_Scatter(parts, 1, MPI_DOUBLE, &own, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    const double wanted = (double)(2 * n + 1);
    if (sum != wanted || later != wanted || again != wanted || data[BATCH - 1] != n * BATCH + BATCH - 1)
      bench_die("wrong data came");
    if ((rank == 0 && reduced != wanted) || told != (double)n || own != (double)(n + rank))
      bench_die("wrong data came");
  }
  MPI_Request_free(&repeated);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
