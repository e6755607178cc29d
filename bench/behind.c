// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Large operations whose partner computes for 10 ms once it has started its part: the time until rank 0, which waits in
// MPI, has its end. Without progress while the program computes that is 10 ms.
#include <mpi.h>

#include "bench.h"

enum { TRIES = 21, COMPUTE_US = 10000, BYTES = 1 << 20, DOUBLES = 32768 };

static int rank;
static unsigned char* data;
static double *in, *out;

static void compute(void) {
  const double end = bench_now_us() + COMPUTE_US;
  while (bench_now_us() < end) {
  }
}

// Rank 0 waits at once, rank 1 after computing.
static void finish(MPI_Request request) {
  if (rank == 1) compute();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void send_to_computing(void) {
  MPI_Request request;
  if (rank == 0) MPI_Isend(data, BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
  if (rank == 1) MPI_Irecv(data, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
  finish(request);
}
static void receive_from_computing(void) {
  MPI_Request request;
  if (rank == 0) MPI_Irecv(data, BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
  if (rank == 1) MPI_Isend(data, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
  finish(request);
}
static void allreduce_with_computing(void) {
  MPI_Request request;
  MPI_Iallreduce(in, out, DOUBLES, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  finish(request);
}

static void measure(const char* name, size_t size, void (*operation)(void), int tries) {
  double us[TRIES];
  for (int i = 0; i < tries; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = bench_now_us();
    operation();
    us[i] = bench_now_us() - start;
  }
  if (rank == 0) bench_emit(name, size, bench_median(us, tries), "us");
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {BYTES};
  const struct bench_options options = bench_parse(argc, argv, sizes, 1);
  MPI_Init(&argc, &argv);
  rank = bench_rank_of(2);
  if (rank > 1) bench_die("two ranks are wanted");
  data = bench_buffer(BYTES);
  in = (double*)bench_buffer(DOUBLES * sizeof *in);
  out = (double*)bench_buffer(DOUBLES * sizeof *out);
  const int tries = options.block_us < 5e3 ? 3 : TRIES;
  measure("behind_receive", BYTES, send_to_computing, tries);
  measure("behind_send", BYTES, receive_from_computing, tries);
  measure("behind_allreduce", DOUBLES * sizeof *in, allreduce_with_computing, tries);
  free(data);
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
