// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 ends with status 0 before MPI_Init: a rank that sends to it ends the job with a message, and does not wait.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void) {
  const char* rank = getenv("WEFT_RANK");
  const int value = 1;
  if (rank == NULL || atoi(rank) == 1) return 0;
  usleep(200000);  // rank 1 is gone, and nobody has used the job's memory yet
  MPI_Init(NULL, NULL);
  MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  puts("never_came: the job ended without rank 1");
  return 0;
}
