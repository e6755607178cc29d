/* SPDX-FileCopyrightText: 2026 the Weft authors
 * SPDX-License-Identifier: BSD-3-Clause */
/* A program that knows of no tool: one send, two barriers. */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank, sent = 42, received = 0;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Irecv(&received, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, &request);
  MPI_Send(&sent, 1, MPI_INT, rank, 7, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Finalize() || received != sent;
}
