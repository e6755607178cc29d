// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI_Allreduce of doubles by all ranks: time of one call. Size: bytes of a rank.
#include <mpi.h>

#include "place.h"

static double *in, *out;

static double reductions(int count, int iterations) {
  const double start = bench_now_us();
  for (int i = 0; i < iterations; ++i) MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return bench_now_us() - start;
}

static void measure(int rank, int ranks, size_t size, const struct bench_options* options) {
  const int count = (int)(size / sizeof(double));
  double* room = place_room(in, size);
  for (int i = 0; i < count; ++i) room[i] = rank + i % 100;
  place_write(in, size);
  reductions(count, 1);
  room = place_read(out, size);
  for (int i = 0; i < count; ++i) {
    if (room[i] != ranks * (ranks - 1) / 2.0 + (double)ranks * (i % 100)) bench_die("MPI_Allreduce gave a wrong sum");
  }
  enum { TRIES = 8 };
  reductions(count, TRIES);
  const int iterations = bench_agree(bench_iterations(options, reductions(count, TRIES), TRIES));
  double blocks[BENCH_BLOCKS];
  for (int b = 0; b < BENCH_BLOCKS; ++b) blocks[b] = reductions(count, iterations) / iterations;
  if (rank == 0) bench_emit("allreduce", size, bench_median(blocks, BENCH_BLOCKS), "us");
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {8, 1024, 65536};
  const struct bench_options options = place_parse(argc, argv, sizes, sizeof sizes / sizeof *sizes);
  int ranks;
  MPI_Init(&argc, &argv);
  const int rank = bench_rank_of(2);
  place_start(rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  size_t largest = 0;
  for (int i = 0; i < options.size_count; ++i) largest = options.sizes[i] > largest ? options.sizes[i] : largest;
  in = (double*)place_buffer(largest);
  out = (double*)place_buffer(largest);
  for (int i = 0; i < options.size_count; ++i) measure(rank, ranks, options.sizes[i], &options);
  place_free(in);
  place_free(out);
  MPI_Finalize();
  return 0;
}
