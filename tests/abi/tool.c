/* SPDX-FileCopyrightText: 2026 the Weft authors
 * SPDX-License-Identifier: BSD-3-Clause */
/* A tool as profilers are: loaded before the library, in the place of some MPI names. Not linked with MPI. */
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

int MPI_Finalize(void) {
  printf("tool saw %d MPI_Send, %d MPI_Barrier\n", sends, barriers);
  return PMPI_Finalize();
}
