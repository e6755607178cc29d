// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A program of a Fortran compiler that writes all names in capitals: procedures of MPICH's ABI by those names, and its
// own common block by whose addresses it names MPI_IN_PLACE and MPI_STATUS_IGNORE.
#include <stdio.h>

enum { INTEGER = 0x4c00041b, SUM = 0x58000003, WORLD = 0x44000000, STATUS_SIZE = 5 };

struct {
  int bottom, in_place, status_ignore[STATUS_SIZE];
} MPIPRIV1;

void MPI_INIT(int* ierror);
void MPI_COMM_RANK(const int* comm, int* rank, int* ierror);
void MPI_ALLREDUCE(const void* from, void* to, const int* count, const int* type, const int* op, const int* comm,
                   int* ierror);
void MPI_SENDRECV(const void* from, const int* count, const int* type, const int* dest, const int* tag, void* to,
                  const int* room, const int* type_to, const int* source, const int* tag_to, const int* comm,
                  int* status, int* ierror);
void MPIX_QUERY_CUDA_SUPPORT(int* answer);
void MPI_FINALIZE(int* ierror);

int main(void) {
  const int one = 1, integer = INTEGER, sum = SUM, world = WORLD;
  int rank = -1, ierror = -1, total = 3, got = -1, answer = -1;
  MPI_INIT(&ierror);
  MPI_COMM_RANK(&world, &rank, &ierror);
  MPI_ALLREDUCE(&MPIPRIV1.in_place, &total, &one, &integer, &sum, &world, &ierror);
  const int other = 1 - rank;
  MPI_SENDRECV(&rank, &one, &integer, &other, &one, &got, &one, &integer, &other, &one, &world, MPIPRIV1.status_ignore,
               &ierror);
  MPIX_QUERY_CUDA_SUPPORT(&answer);
  int written = 0;
  for (int i = 0; i < STATUS_SIZE; ++i) written += MPIPRIV1.status_ignore[i] != 0;
  if (ierror != 0 || total != 6 || got != other || written != 0 || answer != 0) {
    fprintf(stderr, "rank %d: error %d, total %d, got %d, %d words of a status, answer %d\n", rank, ierror, total, got,
            written, answer);
    return 1;
  }
  MPI_FINALIZE(&ierror);
  return ierror;
}
