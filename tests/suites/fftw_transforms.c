// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A wave of one frequency, distributed over all ranks, has one coefficient. A field comes back from its transforms, and
// transposed data are where they belong.
#include <complex.h>
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>

enum { planes = 24, rows = 20, columns = 16 };

static long right, wrong;

static void expect(int correct) {
  *(correct ? &right : &wrong) += 1;
}

static void wave(void) {
  ptrdiff_t own, first;
  const ptrdiff_t needed = fftw_mpi_local_size_3d(planes, rows, columns, MPI_COMM_WORLD, &own, &first);
  fftw_complex* data = fftw_alloc_complex(needed);
  const fftw_plan there =
      fftw_mpi_plan_dft_3d(planes, rows, columns, data, data, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_ESTIMATE);
  const fftw_plan back =
      fftw_mpi_plan_dft_3d(planes, rows, columns, data, data, MPI_COMM_WORLD, FFTW_BACKWARD, FFTW_ESTIMATE);
  const double turn = 2 * acos(-1.0), points = planes * rows * columns;
  for (ptrdiff_t i = 0; i < own * rows * columns; ++i) {
    const ptrdiff_t x = first + i / (rows * columns), y = i / columns % rows, z = i % columns;
    data[i] = cexp(I * turn * (3.0 * x / planes + 5.0 * y / rows + 7.0 * z / columns));
  }
  fftw_execute(there);
  for (ptrdiff_t i = 0; i < own * rows * columns; ++i) {
    const ptrdiff_t x = first + i / (rows * columns), y = i / columns % rows, z = i % columns;
    expect(cabs(data[i] - (x == 3 && y == 5 && z == 7 ? points : 0)) < 1e-9 * points);
  }
  fftw_execute(back);
  for (ptrdiff_t i = 0; i < own * rows * columns; ++i) {
    const ptrdiff_t x = first + i / (rows * columns), y = i / columns % rows, z = i % columns;
    expect(cabs(data[i] / points - cexp(I * turn * (3.0 * x / planes + 5.0 * y / rows + 7.0 * z / columns))) < 1e-12);
  }
  fftw_destroy_plan(there);
  fftw_destroy_plan(back);
  fftw_free(data);
}

static void transposition(void) {
  ptrdiff_t own, first, own_columns, first_column;
  const ptrdiff_t needed =
      fftw_mpi_local_size_2d_transposed(rows, columns, MPI_COMM_WORLD, &own, &first, &own_columns, &first_column);
  double* data = fftw_alloc_real(needed);
  const fftw_plan plan = fftw_mpi_plan_transpose(rows, columns, data, data, MPI_COMM_WORLD, FFTW_ESTIMATE);
  for (ptrdiff_t i = 0; i < own * columns; ++i) data[i] = first * columns + i;
  fftw_execute(plan);
  for (ptrdiff_t i = 0; i < own_columns * rows; ++i) expect(data[i] == i % rows * columns + first_column + i / rows);
  fftw_destroy_plan(plan);
  fftw_free(data);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  fftw_mpi_init();
  wave();
  transposition();
  int rank, ranks;
  long counts[2] = {right, wrong}, all[2];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Reduce(counts, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks: %ld right, %ld wrong\n", ranks, all[0], all[1]);
  fftw_mpi_cleanup();
  MPI_Finalize();
  return 0;
}
