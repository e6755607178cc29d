// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <iostream>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  int rank = -1;
  MPI_Get_library_version(version, &length);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::cout << version << " rank " << rank << std::endl;
  return MPI_Finalize();
}
