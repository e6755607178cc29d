/* SPDX-FileCopyrightText: 2026 the Weft authors
 * SPDX-License-Identifier: BSD-3-Clause */
/* A program's own MPI_Send and MPI_Barrier take the place of the library's, which it reaches by the PMPI names; the
 * library itself never calls what the program replaced (MPI-5.0, 15.2). */
#include <mpi.h>
#include <stdio.h>

static int sends, barriers;

int MPI_Send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  sends++;
  return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int MPI_Barrier(MPI_Comm comm) {
  barriers++;
  return PMPI_Barrier(comm);
}

int main(int argc, char** argv) {
  int rank, sent = 42, received = 0;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Irecv(&received, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, &request);
  MPI_Send(&sent, 1, MPI_INT, rank, 7, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  PMPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  printf("received %d, %d sends, %d barriers\n", received, sends, barriers);
  return !(received == 42 && sends == 1 && barriers == 1);
}
