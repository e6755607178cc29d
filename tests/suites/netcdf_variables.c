// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// All ranks write variables of one file by NetCDF over HDF5, independently and collectively, and compare those of all
// ranks.
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>

enum { rows = 50, columns = 120 };

static long right, wrong;
static int data[rows * columns];

static void check(int status) {
  if (status == NC_NOERR) return;
  fprintf(stderr, "%s\n", nc_strerror(status));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int value(int rank, int i, int variable) {
  return rank * 1000000 + i * 3 + variable;
}

int main(int argc, char** argv) {
  static const char* const names[] = {"independent", "collective"};
  static const int access[] = {NC_INDEPENDENT, NC_COLLECTIVE};
  int rank, ranks, file, dimensions[2], variables[2];
  long all[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check(nc_create_par("netcdf.nc", NC_NETCDF4 | NC_CLOBBER, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
  check(nc_def_dim(file, "rows", (size_t)rows * ranks, &dimensions[0]));
  check(nc_def_dim(file, "columns", columns, &dimensions[1]));
  for (int which = 0; which < 2; ++which)
    check(nc_def_var(file, names[which], NC_INT, 2, dimensions, &variables[which]));
  check(nc_enddef(file));
  const size_t count[2] = {rows, columns};
  for (int which = 0; which < 2; ++which) {
    for (int i = 0; i < rows * columns; ++i) data[i] = value(rank, i, which);
    check(nc_var_par_access(file, variables[which], access[which]));
    check(nc_put_vara_int(file, variables[which], (size_t[]){(size_t)rows * rank, 0}, count, data));
  }
  check(nc_close(file));
  check(nc_open_par("netcdf.nc", NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
  for (int which = 0; which < 2; ++which) {
    check(nc_inq_varid(file, names[which], &variables[which]));
    for (int of = 0; of < ranks; ++of) {
      check(nc_get_vara_int(file, variables[which], (size_t[]){(size_t)rows * of, 0}, count, data));
      for (int i = 0; i < rows * columns; ++i) ++*(data[i] == value(of, i, which) ? &right : &wrong);
    }
  }
  check(nc_close(file));
  MPI_Reduce((long[]){right, wrong}, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks: %ld right, %ld wrong\n", ranks, all[0], all[1]);
  MPI_Finalize();
  return 0;
}
