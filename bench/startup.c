// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI_Init and MPI_Finalize in the process, and the memory that Init touched. Nothing of MPI may be called after
// Finalize, so every rank prints its own lines and the report takes the worst. Size: number of ranks.
#include <mpi.h>

#include "bench.h"

// Anonymous and shared memory of this process in KiB; pages of program and library files are not the library's doing.
static double touched_kib(void) {
  FILE* file = fopen("/proc/self/status", "r");
  char line[256];
  double kib = 0, value;
  while (file && fgets(line, sizeof line, file)) {
    if (sscanf(line, "RssAnon: %lf", &value) == 1 || sscanf(line, "RssShmem: %lf", &value) == 1) kib += value;
  }
  if (file) fclose(file);
  return kib;
}

int main(int argc, char** argv) {
  int ranks;
  const double before_kib = touched_kib();
  const double start = bench_now_us();
  MPI_Init(&argc, &argv);
  const double ready = bench_now_us();
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  const double kib = touched_kib() - before_kib;
  const double leaving = bench_now_us();
  MPI_Finalize();
  const double end = bench_now_us();
  char text[256];
  // One write per rank, or lines of several ranks could mix.
  const int length = snprintf(text, sizeof text,
                              "startup_init %d %.6g us\nstartup_finalize %d %.6g us\nstartup %d %.6g us\n"
                              "startup_memory %d %.6g KiB\n",
                              ranks, ready - start, ranks, end - leaving, ranks, end - start, ranks, kib);
  fwrite(text, 1, (size_t)length, stdout);
  return 0;
}
