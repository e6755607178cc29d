/* SPDX-FileCopyrightText: 2026 the Weft authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length, rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Get_library_version(version, &length);
  printf("%s rank %d\n", version, rank);
  return MPI_Finalize();
}
