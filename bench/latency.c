// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Ping-pong between ranks 0 and 1 with blocking calls: half a round trip.
// Data may lie on a device (place.h).
#define BENCH_FRESH
#include <mpi.h>

#include "place.h"

static unsigned char *out, *in;
static double clock_us;
static uint64_t turn;  // of the writing with --fresh, the same in both ranks

static double ping_pong(int rank, size_t size, int iterations) {
  const int bytes = (int)size, peer = 1 - rank;
  const double start = bench_now_us();
  for (int i = 0; i < iterations; ++i) {
    if (rank == 0) {
      MPI_Send(out, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
      MPI_Recv(in, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(in, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(out, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    }
  }
  return bench_now_us() - start;
}

// Both ranks write what they will send, rank 1 says that it has, and only then the clock of rank 0 runs, for a single
// round trip: writing takes no part of the time. The clock's own time is taken off.
static double ping_pong_fresh(int rank, size_t size, int iterations) {
  double took = 0;
  for (int i = 0; i < iterations; ++i) {
    place_renew(out, size, ++turn);
    if (rank == 0) {
      MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
    }
    took += ping_pong(rank, size, 1) - clock_us;
  }
  return took;
}

static void measure(int rank, size_t size, const struct bench_options* options) {
  place_fill(out, size, 7 + (unsigned)rank);
  ping_pong(rank, size, 1);
  place_check(in, size, 8 - (unsigned)rank);

  enum { TRIES = 8 };
  double (*const pattern)(int, size_t, int) = options->fresh ? ping_pong_fresh : ping_pong;
  pattern(rank, size, TRIES);
  const int iterations = bench_agree(bench_iterations(options, pattern(rank, size, TRIES), TRIES));
  double blocks[BENCH_BLOCKS];
  for (int b = 0; b < BENCH_BLOCKS; ++b) blocks[b] = pattern(rank, size, iterations) / (2.0 * iterations);
  if (options->fresh) place_check_renewed(in, size, turn);
  if (rank == 0) bench_emit_measure(options, "latency", size, bench_median(blocks, BENCH_BLOCKS), "us");
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {8, 64, 256, 1024, 4096, 8192, 16384, 65536, 262144, 1048576, 4194304};
  const struct bench_options options = place_parse(argc, argv, sizes, sizeof sizes / sizeof *sizes);
  MPI_Init(&argc, &argv);
  const int rank = bench_rank_of(2);
  place_start(rank);
  size_t largest = 0;
  for (int i = 0; i < options.size_count; ++i) largest = options.sizes[i] > largest ? options.sizes[i] : largest;
  clock_us = bench_clock_us();
  out = place_buffer(largest);
  in = place_buffer(largest);
  for (int i = 0; rank < 2 && i < options.size_count; ++i) measure(rank, options.sizes[i], &options);
  MPI_Barrier(MPI_COMM_WORLD);
  place_free(out);
  place_free(in);
  MPI_Finalize();
  return 0;
}
