// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// All ranks write variables of one file by PnetCDF, also without waiting, and compare those of all ranks.
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>

enum { rows = 50, columns = 120 };

static long right, wrong;

static void check(int status) {
  if (status == NC_NOERR) return;
  fprintf(stderr, "%s\n", ncmpi_strerror(status));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static double value(int rank, int i, int variable) {
  return rank * 1e6 + i + 0.5 * variable;
}

static void write_all(int rank, int ranks) {
  int file, dimensions[2], variables[2], request, status;
  check(ncmpi_create(MPI_COMM_WORLD, "pnetcdf.nc", NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
  check(ncmpi_def_dim(file, "rows", (MPI_Offset)rows * ranks, &dimensions[0]));
  check(ncmpi_def_dim(file, "columns", columns, &dimensions[1]));
  check(ncmpi_def_var(file, "first", NC_DOUBLE, 2, dimensions, &variables[0]));
  check(ncmpi_def_var(file, "second", NC_INT, 2, dimensions, &variables[1]));
  check(ncmpi_enddef(file));
  double* data[2] = {malloc(sizeof(double) * rows * columns), malloc(sizeof(double) * rows * columns)};
  for (int variable = 0; variable < 2; ++variable)
    for (int i = 0; i < rows * columns; ++i) data[variable][i] = value(rank, i, 2 * variable);
  const MPI_Offset start[2] = {(MPI_Offset)rows * rank, 0}, count[2] = {rows, columns};
  check(ncmpi_put_vara_double_all(file, variables[0], start, count, data[0]));
  check(ncmpi_iput_vara_double(file, variables[1], start, count, data[1], &request));
  check(ncmpi_wait_all(file, 1, &request, &status));
  check(status);
  check(ncmpi_close(file));
  free(data[0]);
  free(data[1]);
}

static void read_all(int ranks) {
  static const char* const names[] = {"first", "second"};
  int file, id;
  check(ncmpi_open(MPI_COMM_WORLD, "pnetcdf.nc", NC_NOWRITE, MPI_INFO_NULL, &file));
  double* data = malloc(sizeof(double) * rows * columns);
  for (int variable = 0; variable < 2; ++variable) {
    check(ncmpi_inq_varid(file, names[variable], &id));
    for (int rank = 0; rank < ranks; ++rank) {
      const MPI_Offset start[2] = {(MPI_Offset)rows * rank, 0}, count[2] = {rows, columns};
      check(ncmpi_get_vara_double_all(file, id, start, count, data));
      for (int i = 0; i < rows * columns; ++i) ++*(data[i] == value(rank, i, 2 * variable) ? &right : &wrong);
    }
  }
  free(data);
  check(ncmpi_close(file));
}

int main(int argc, char** argv) {
  int rank, ranks;
  long all[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  write_all(rank, ranks);
  read_all(ranks);
  MPI_Reduce((long[]){right, wrong}, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks: %ld right, %ld wrong\n", ranks, all[0], all[1]);
  MPI_Finalize();
  return 0;
}
