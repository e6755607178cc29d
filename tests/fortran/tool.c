/* SPDX-FileCopyrightText: 2026 the Weft authors
 * SPDX-License-Identifier: BSD-3-Clause */
/* A tool in C that replaces MPI_Isend, for f08_tool.f90. */
#include <mpi.h>

static int calls;

int tool_calls(void) {
  return calls;
}

int MPI_Isend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request* request) {
  ++calls;
  return PMPI_Isend(buf, count, datatype, dest, tag, comm, request);
}
