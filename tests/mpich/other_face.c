/* SPDX-FileCopyrightText: 2026 the Weft authors
 * SPDX-License-Identifier: BSD-3-Clause */
/* A library that both_faces loads: built for the ABI that the program is not built for. It calls MPI in all ways that
 * depend on the ABI, and says what is wrong; 0: nothing. */
#include <mpi.h>
#include <stdio.h>

int other_face_checks(void);

static int errors_seen;
static MPI_Comm error_comm;
static int error_class;

static void note_error(MPI_Comm* comm, int* code, ...) {
  ++errors_seen;
  error_comm = *comm;
  MPI_Error_class(*code, &error_class);
}

static void sum(void* in, void* inout, int* count, MPI_Datatype* type) {
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += *type == MPI_INT ? ((int*)in)[i] : 1000000;
}

#define CHECK(condition)                                                   \
  do {                                                                     \
    if (!(condition)) {                                                    \
      printf("%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      wrong = 1;                                                           \
    }                                                                      \
  } while (0)

int other_face_checks(void) {
  int wrong = 0;
  int rank = -1;
  int size = -1;
  MPI_Comm comm = MPI_COMM_NULL;
  CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(sum, 1, &op);
  int total = -1;
  MPI_Allreduce(&rank, &total, 1, MPI_INT, op, comm);
  CHECK(total == size * (size - 1) / 2);
  MPI_Op_free(&op);
  MPI_Status status;
  int got = -1;
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 5, &got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
  CHECK(got == (rank + size - 1) % size && status.MPI_SOURCE == got && status.MPI_TAG == 5);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(note_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);
  errors_seen = 0;
  MPI_Bcast(&got, 1, MPI_INT, size, comm);
  CHECK(errors_seen == 1 && error_comm == comm && error_class == MPI_ERR_ROOT);
  CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS && comm == MPI_COMM_NULL);
  return wrong;
}
