// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Ping-pong of 8 bytes by all pairs (rank, rank + ranks/2) at once: half a round trip of the slowest pair. Size: number
// of ranks. Meant for more ranks than cores, where a pair that only spins keeps the others from running.
#include <mpi.h>

#include "bench.h"

static double ping_pong(int rank, int ranks, int iterations) {
  const int half = ranks / 2, peer = rank < half ? rank + half : rank - half;
  char data[8] = {0};
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = bench_now_us();
  for (int i = 0; rank < 2 * half && i < iterations; ++i) {
    if (rank < half) {
      MPI_Send(data, sizeof data, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
      MPI_Recv(data, sizeof data, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(data, sizeof data, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(data, sizeof data, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return bench_now_us() - start;
}

int main(int argc, char** argv) {
  struct bench_options options = bench_parse(argc, argv, NULL, 0);
  options.block_us *= 5;  // several turns of the scheduler
  int ranks;
  MPI_Init(&argc, &argv);
  const int rank = bench_rank_of(2);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  enum { TRIES = 8 };
  ping_pong(rank, ranks, TRIES);
  const int iterations = bench_agree(bench_iterations(&options, ping_pong(rank, ranks, TRIES), TRIES));
  double blocks[BENCH_BLOCKS];
  for (int b = 0; b < BENCH_BLOCKS; ++b) blocks[b] = ping_pong(rank, ranks, iterations) / (2.0 * iterations);
  if (rank == 0) bench_emit("pairs", (size_t)ranks, bench_median(blocks, BENCH_BLOCKS), "us");
  MPI_Finalize();
  return 0;
}
