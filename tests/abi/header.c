/* SPDX-FileCopyrightText: 2026 the Weft authors
 * SPDX-License-Identifier: BSD-3-Clause */
/* Compiles in every C and C++ that mpi.h supports; the numbers are from MPI-5.0, chapter 20, not from our table. */
#include <mpi.h>
#include <stddef.h>

#define HOLDS(name, condition) typedef char name[(condition) ? 1 : -1]

HOLDS(status_size, sizeof(MPI_Status) == 32);
HOLDS(status_source, offsetof(MPI_Status, MPI_SOURCE) == 0);
HOLDS(status_tag, offsetof(MPI_Status, MPI_TAG) == 4);
HOLDS(status_error, offsetof(MPI_Status, MPI_ERROR) == 8);
HOLDS(status_rest, offsetof(MPI_Status, MPI_internal) == 12);
HOLDS(aint_size, sizeof(MPI_Aint) == sizeof(void*));
HOLDS(count_size, sizeof(MPI_Count) == 8);
HOLDS(offset_size, sizeof(MPI_Offset) == 8);
HOLDS(handle_size, sizeof(MPI_Comm) == sizeof(void*));
HOLDS(aint_signed, (MPI_Aint)-1 < 0);
HOLDS(any_source, MPI_ANY_SOURCE == -1);
HOLDS(any_tag, MPI_ANY_TAG == -2);
HOLDS(proc_null, MPI_PROC_NULL == -3);
HOLDS(root, MPI_ROOT == -4);
HOLDS(undefined, MPI_UNDEFINED == -32766);
HOLDS(thread_multiple, MPI_THREAD_MULTIPLE == 4096);
HOLDS(bsend_overhead, MPI_BSEND_OVERHEAD == 512);
HOLDS(f_status, MPI_F_STATUS_SIZE * sizeof(int) == sizeof(MPI_Status));

#if MPI_VERSION != 5 || MPI_SUBVERSION != 0 || MPI_ABI_VERSION != 1 || MPI_ABI_SUBVERSION != 0
#error "versions must be usable by the preprocessor"
#endif

/* Handles are distinct types, initialise objects and compare. */
MPI_Comm world = MPI_COMM_WORLD;
MPI_Datatype types[] = {MPI_INT, MPI_C_COMPLEX, MPI_LONG_LONG_INT, MPI_BYTE};
MPI_Op op = MPI_SUM;

static int copy(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)keyval, (void)extra, (void)in, (void)out;
  *flag = 0;
  return MPI_SUCCESS;
}

static void on_error(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
}

static void reduce(void* in, void* inout, int* len, MPI_Datatype* type) {
  (void)in, (void)inout, (void)len, (void)type;
}

int uses(int* key, MPI_Errhandler* errhandler);
int uses(int* key, MPI_Errhandler* errhandler) {
  MPI_Comm_errhandler_fn* handler = on_error;
  int code = MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, key, MPI_BOTTOM);
  if (!code) code = MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0);
  if (!code) code = MPI_Comm_create_errhandler(handler, errhandler);
  if (!code) code = MPI_Op_create(reduce, 1, &op);
  if (!code) code = MPI_Send(MPI_BOTTOM, 0, types[0], MPI_PROC_NULL, 0, world);
  if (!code) code = PMPI_Allreduce(MPI_IN_PLACE, key, 1, types[1], MPI_OP_NULL, MPI_COMM_SELF);
  if (!code) code = MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, MPI_STATUS_IGNORE);
  return code == MPI_SUCCESS && world != MPI_COMM_NULL;
}
