// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Each rank says where it is, "rank host", once it has heard from all others; with an argument, "rank universe".
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, size, length, known = 0, sum = 0;
  int* universe = NULL;
  char host[MPI_MAX_PROCESSOR_NAME];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Get_processor_name(host, &length);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, (void*)&universe, &known);
  if (sum != size * (size - 1) / 2) {
    printf("%d has heard something else\n", rank);
  } else if (argc > 1) {
    printf("%d %d\n", rank, known ? *universe : -1);
  } else {
    printf("%d %s\n", rank, host);
  }
  MPI_Finalize();
  return 0;
}
