// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// OpenSHMEM and MPI in one program: a Jacobi iteration for a plate whose left edge is hot, its rows spread over the
// processes. Edge rows go to the neighbours by put-with-signal, and a rank waits for a signal instead of a message; the
// change of a step is summed by MPI_Allreduce, and MPI gathers the result. Arguments: rows per process, columns, steps.

#include <math.h>
#include <mpi.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

static double exchange_and_step(double* now, double* then, int rows, int columns, int up, int down, uint64_t* signals,
                                uint64_t step) {
  const size_t width = (size_t)columns;
  // Our first row is the row below the last one of the neighbour above, and so on. Two sets of signals are enough: a
  // neighbour is at most one step ahead.
  if (up >= 0) {
    shmem_double_put_signal(now + (size_t)(rows + 1) * width, now + width, width, &signals[1], step, SHMEM_SIGNAL_SET,
                            up);
  }
  if (down >= 0)
    shmem_double_put_signal(now, now + (size_t)rows * width, width, &signals[0], step, SHMEM_SIGNAL_SET, down);
  if (up >= 0) shmem_signal_wait_until(&signals[0], SHMEM_CMP_GE, step);
  if (down >= 0) shmem_signal_wait_until(&signals[1], SHMEM_CMP_GE, step);
  double change = 0;
  for (int r = 1; r <= rows; ++r) {
    const double* row = now + (size_t)r * width;
    for (int c = 1; c < columns - 1; ++c) {
      const double above = up < 0 && r == 1 ? row[c] : row[c - columns];
      const double below = down < 0 && r == rows ? row[c] : row[c + columns];
      const double value = 0.25 * (above + below + row[c - 1] + row[c + 1]);
      change += fabs(value - row[c]);
      then[(size_t)r * width + (size_t)c] = value;
    }
  }
  return change;
}

int main(int argc, char** argv) {
  const int rows = argc > 1 ? atoi(argv[1]) : 8;
  const int columns = argc > 2 ? atoi(argv[2]) : 16;
  const int steps = argc > 3 ? atoi(argv[3]) : 2000;
  if (rows < 1 || columns < 3 || steps < 1) return fprintf(stderr, "usage: halo [rows [columns [steps]]]\n"), 2;
  MPI_Init(&argc, &argv);
  shmem_init();
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  const int up = me - 1, down = me + 1 < pes ? me + 1 : -1;
  const size_t cells = (size_t)(rows + 2) * (size_t)columns;
  double* fields[2] = {shmem_calloc(cells, sizeof(double)), shmem_calloc(cells, sizeof(double))};
  uint64_t* signals = shmem_calloc(2, sizeof *signals);
  if (fields[0] == NULL || fields[1] == NULL || signals == NULL) {
    fprintf(stderr, "halo: the symmetric heap is too small: set SHMEM_SYMMETRIC_SIZE\n");
    shmem_global_exit(1);
  }
  for (int f = 0; f < 2; ++f) {
    for (int r = 0; r < rows + 2; ++r) fields[f][(size_t)r * (size_t)columns] = 1;
  }
  shmem_barrier_all();
  double change = 0;
  for (int step = 1; step <= steps; ++step) {
    const double mine =
        exchange_and_step(fields[(step + 1) % 2], fields[step % 2], rows, columns, up, down, signals, (uint64_t)step);
    MPI_Allreduce(&mine, &change, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  // No row differs from another, and a row falls evenly from the hot edge to the cold one.
  double worst = 0, all = 0;
  for (int r = 1; r <= rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      const double exact = 1 - (double)c / (columns - 1);
      worst = fmax(worst, fabs(fields[steps % 2][(size_t)r * (size_t)columns + (size_t)c] - exact));
    }
  }
  MPI_Reduce(&worst, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (me == 0) printf("%d PEs, %d steps: last change %.1e, largest error %.1e\n", pes, steps, change, all);
  MPI_Bcast(&all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  shmem_finalize();
  MPI_Finalize();
  return all < 1e-3 ? 0 : 1;
}
