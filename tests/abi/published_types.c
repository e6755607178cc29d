// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Prints the sizes of the headers' types, the offsets of their members, and the constants that only Weft's headers fix,
// as lines "data NAME NUMBER".
#include <mpi.h>
#include <mpix.h>
#include <shmem.h>
#include <stddef.h>
#include <stdio.h>

#define SIZE(type) printf("data %s %zu\n", #type, sizeof(type))
#define OFFSET(type, member) printf("data %s.%s %zu\n", #type, #member, offsetof(type, member))
#define VALUE(name) printf("data %s %ld\n", #name, (long)(name))

int main(void) {
  SIZE(MPI_Aint);
  SIZE(MPI_Offset);
  SIZE(MPI_Count);
  SIZE(MPI_Fint);
  SIZE(MPI_Status);
  OFFSET(MPI_Status, MPI_SOURCE);
  OFFSET(MPI_Status, MPI_TAG);
  OFFSET(MPI_Status, MPI_ERROR);
  OFFSET(MPI_Status, MPI_internal);
  SIZE(MPI_F08_status);
  OFFSET(MPI_F08_status, MPI_SOURCE);
  OFFSET(MPI_F08_status, MPI_TAG);
  OFFSET(MPI_F08_status, MPI_ERROR);
  SIZE(MPI_Comm);
  SIZE(MPI_Request);
  SIZE(MPI_T_cb_safety);
  SIZE(MPI_T_source_order);
  SIZE(MPIX_Stream);
  SIZE(shmem_ctx_t);
  SIZE(shmem_team_t);
  SIZE(shmem_ctx_session_config_t);
  OFFSET(shmem_ctx_session_config_t, total_ops);
  SIZE(shmem_team_config_t);
  OFFSET(shmem_team_config_t, num_contexts);
  VALUE(SHMEM_THREAD_MULTIPLE);
  VALUE(SHMEM_CMP_EQ);
  VALUE(SHMEM_CMP_NE);
  VALUE(SHMEM_CMP_GT);
  VALUE(SHMEM_CMP_LE);
  VALUE(SHMEM_CMP_LT);
  VALUE(SHMEM_CMP_GE);
  VALUE(SHMEM_SIGNAL_SET);
  VALUE(SHMEM_SIGNAL_ADD);
  VALUE(SHMEM_MALLOC_ATOMICS_REMOTE);
  VALUE(SHMEM_MALLOC_SIGNAL_REMOTE);
  VALUE(SHMEM_CTX_DEFAULT);
  VALUE(SHMEM_CTX_SERIALIZED);
  VALUE(SHMEM_CTX_PRIVATE);
  VALUE(SHMEM_CTX_NOSTORE);
  VALUE(SHMEM_CTX_SESSION_TOTAL_OPS);
  VALUE(SHMEM_CTX_SESSION_BATCH);
  VALUE(SHMEM_TEAM_WORLD);
  VALUE(SHMEM_TEAM_SHARED);
  VALUE(SHMEM_TEAM_NUM_CONTEXTS);
  VALUE(SHMEM_SYNC_SIZE);
  VALUE(SHMEM_BCAST_SYNC_SIZE);
  VALUE(SHMEM_REDUCE_SYNC_SIZE);
  VALUE(SHMEM_REDUCE_MIN_WRKDATA_SIZE);
  return 0;
}
