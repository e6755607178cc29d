// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Operations whose partner computes for 10 ms once it has started its part: the time until rank 0, which waits in MPI,
// has its end (10 ms without progress while the program computes), and what is left of the wait of the rank that
// computed (`_left`).
#include <mpi.h>

#include "bench.h"

enum { TRIES = 21, COMPUTE_US = 10000, BYTES = 1 << 20, DOUBLES = 32768 };

static int rank;
static unsigned char* data;
static MPI_Win window;
static double left_us;  // of the wait of rank 1
static double *in, *out;

static void compute(void) {
  const double end = bench_now_us() + COMPUTE_US;
  while (bench_now_us() < end) {
  }
}

// Rank 0 waits at once, rank 1 after computing.
static void finish(MPI_Request request) {
  if (rank == 1) compute();
  const double start = bench_now_us();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  left_us = bench_now_us() - start;
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

static void put_to_computing(size_t bytes) {
  left_us = 0;
  if (rank == 1) {
    compute();
  } else {
    MPI_Put(data, (int)bytes, MPI_BYTE, 1, 0, (MPI_Aint)bytes, MPI_BYTE, window);
    MPI_Win_flush(1, window);
  }
}
static void put_large(void) {
  put_to_computing(BYTES);
}
static void put_small(void) {
  put_to_computing(8);
}

static void measure(const char* name, size_t size, void (*operation)(void), int tries) {
  double us[TRIES], left[TRIES];
  char name_left[64];
  for (int i = 0; i < tries; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = bench_now_us();
    operation();
    us[i] = bench_now_us() - start;
    left[i] = left_us;
  }
  snprintf(name_left, sizeof name_left, "%s_left", name);
  if (rank == 0) bench_emit(name, size, bench_median(us, tries), "us");
  if (rank == 1) bench_emit(name_left, size, bench_median(left, tries), "us");
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
  void* memory;
  MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  measure("behind_put", 8, put_small, tries);
  measure("behind_put", BYTES, put_large, tries);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  free(data);
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
