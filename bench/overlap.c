// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking collective operations: the time of start and wait, and how much of it is hidden behind computing that
// takes as long and calls no MPI in between (as OSU's benchmarks measure it). 100 percent: nothing of it is seen.
#include <mpi.h>

#include "bench.h"

static int ranks;
static double *in, *out;

static void iallreduce(int n, MPI_Request* request) {
  MPI_Iallreduce(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, request);
}
static void ibcast(int n, MPI_Request* request) {
  MPI_Ibcast(out, n, MPI_DOUBLE, 0, MPI_COMM_WORLD, request);
}
static void iallgather(int n, MPI_Request* request) {
  MPI_Iallgather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, MPI_COMM_WORLD, request);
}
static void ialltoall(int n, MPI_Request* request) {
  MPI_Ialltoall(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, MPI_COMM_WORLD, request);
}
static void ireduce(int n, MPI_Request* request) {
  MPI_Ireduce(in, out, n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD, request);
}
static void ireduce_scatter(int n, MPI_Request* request) {
  MPI_Ireduce_scatter_block(in, out, n / ranks, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, request);
}

static void igather(int n, MPI_Request* request) {
  MPI_Igather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, 0, MPI_COMM_WORLD, request);
}
static void ibarrier(int n, MPI_Request* request) {
  (void)n;
  MPI_Ibarrier(MPI_COMM_WORLD, request);
}

static const struct {
  const char* name;
  void (*start)(int n, MPI_Request* request);
} operations[] = {
    {"iallreduce", iallreduce}, {"ibcast", ibcast},   {"iallgather", iallgather}, {"ialltoall", ialltoall},
    {"igather", igather},       {"ireduce", ireduce}, {"ibarrier", ibarrier},     {"ireduce_scatter", ireduce_scatter}};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static void compute(double us) {
  for (const double end = bench_now_us() + us; bench_now_us() < end;) continue;
}

// Microseconds of a call with `us` of computing in it: the mean of the ranks.
static double run(int operation, int n, double us, int iterations) {
  double mine = 0, sum;
  for (int i = 0; i < iterations; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = bench_now_us();
    MPI_Request request;
    operations[operation].start(n, &request);
    if (us > 0) compute(us);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    mine += bench_now_us() - start;
  }
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum / ranks / iterations;
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {16 << 10, 64 << 10, 1 << 20};
  const struct bench_options options = bench_parse(argc, argv, sizes, 3);
  MPI_Init(&argc, &argv);
  const int rank = bench_rank_of(2);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  size_t largest = 0;
  for (int s = 0; s < options.size_count; ++s) largest = options.sizes[s] > largest ? options.sizes[s] : largest;
  in = (double*)bench_buffer(largest * (size_t)ranks);
  out = (double*)bench_buffer(largest * (size_t)ranks);
  memset(in, 0, largest * (size_t)ranks);
  for (int operation = 0; operation < OPERATIONS; ++operation) {
    const int measured = operations[operation].start == ibarrier ? 1 : options.size_count;  // it has no data
    for (int s = 0; s < measured; ++s) {
      const int n = (int)(options.sizes[s] / sizeof(double));
      const double first = run(operation, n, 0, 3);
      const int iterations = bench_agree(bench_iterations(&options, first * 3, 3));
      double pure[BENCH_BLOCKS], hidden[BENCH_BLOCKS];
      for (int b = 0; b < BENCH_BLOCKS; ++b) {
        pure[b] = run(operation, n, 0, iterations);
        const double seen = run(operation, n, pure[b], iterations) - pure[b];
        hidden[b] = 100 * (1 - seen / pure[b]);
        if (hidden[b] < 0) hidden[b] = 0;
      }
      if (rank != 0) continue;
      char name[40];
      bench_emit(operations[operation].name, options.sizes[s], bench_median(pure, BENCH_BLOCKS), "us");
      snprintf(name, sizeof name, "overlap_%s", operations[operation].name);
      bench_emit(name, options.sizes[s], bench_median(hidden, BENCH_BLOCKS), "pct");
    }
  }
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
