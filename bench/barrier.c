// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI_Barrier by all ranks. Size: number of ranks. With more ranks than cores it shows how a library waits.
#include <mpi.h>

#include "bench.h"

static double barriers(int iterations) {
  const double start = bench_now_us();
  for (int i = 0; i < iterations; ++i) MPI_Barrier(MPI_COMM_WORLD);
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
  barriers(TRIES);
  const int iterations = bench_agree(bench_iterations(&options, barriers(TRIES), TRIES));
  double blocks[BENCH_BLOCKS];
  for (int b = 0; b < BENCH_BLOCKS; ++b) blocks[b] = barriers(iterations) / iterations;
  if (rank == 0) bench_emit("barrier", (size_t)ranks, bench_median(blocks, BENCH_BLOCKS), "us");
  MPI_Finalize();
  return 0;
}
