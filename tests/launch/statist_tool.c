// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A tool between program and library: each of its calls must count once.
#include <mpi.h>

int MPI_Barrier(MPI_Comm comm) {
  return PMPI_Barrier(comm);
}

int MPI_Send_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return PMPI_Send(buf, (int)count, datatype, dest, tag, comm);
}
