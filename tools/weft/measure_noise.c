// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// What `weft noise` starts on all ranks: allreduces of 8 bytes, one after the other.
//
//   weft-measure-noise SECONDS
//
// Rank 0 prints their number, and in microseconds the median, the quantiles 0.99 and 0.999, the longest, and the mean.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 4 << 20 };
static float times[MOST];  // microseconds

static int by_value(const void* a, const void* b) {
  const float x = *(const float*)a, y = *(const float*)b;
  return (x > y) - (x < y);
}

// The time of one. The sum tells all ranks whether rank 0 has enough.
static double allreduce(long long mine, long long* sum) {
  const double start = MPI_Wtime();
  MPI_Allreduce(&mine, sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  return MPI_Wtime() - start;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double seconds = argc > 1 ? atof(argv[1]) : 1;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  long long enough = 0;
  for (int i = 0; i < 1000; ++i) (void)allreduce(0, &enough);
  const double end = MPI_Wtime() + seconds;
  int count = 0;
  double sum = 0;
  while (!enough) {
    const double one = allreduce(rank == 0 && (MPI_Wtime() >= end || count == MOST - 1), &enough) * 1e6;
    times[count++] = (float)one;
    sum += one;
  }
  if (rank == 0) {
    qsort(times, (size_t)count, sizeof *times, by_value);
    printf("%d %g %g %g %g %g\n", count, (double)times[count / 2], (double)times[(long long)count * 99 / 100],
           (double)times[(long long)count * 999 / 1000], (double)times[count - 1], sum / count);
  }
  MPI_Finalize();
  return 0;
}
