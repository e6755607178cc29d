/* SPDX-FileCopyrightText: 2026 the Weft authors
 * SPDX-License-Identifier: BSD-3-Clause */
/* What a program may do about Fortran's integers: conversions of its own in place of the header's, or an INTEGER of 64
 * bits. */
#include <mpi.h>

#ifdef WIDE
typedef char wide[sizeof(MPI_Fint) == 8 && sizeof(MPI_F08_status) == 64 ? 1 : -1];
#else
typedef long MPI_Fint;
MPI_Fint MPI_Comm_c2f(MPI_Comm comm);
MPI_Fint MPI_Comm_c2f(MPI_Comm comm) {
  return MPI_Comm_toint(comm);
}
#endif
