// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A program of OpenSHMEM whose calls are known, for statistics_test.py: its first argument names them.
#include <mpi.h>
#include <pthread.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { thread_count = 4, rounds = 50 };

static int me, pes, next;
static long* words;

// Several functions of each family of typed ones are called; statistics count them as one call.
static void known(void) {
  double* data = shmem_calloc((size_t)pes * 64, sizeof *data);
  double own[64] = {0};
  for (int i = 0; i < 5; ++i) shmem_double_put(data, own, 10, next);
  for (int i = 0; i < 3; ++i) shmem_putmem(data, own, 100, next);
  for (int i = 0; i < 2; ++i) shmem_put32(data, own, 8, next);
  for (int i = 0; i < 4; ++i) shmem_float_get((float*)own, (float*)data, 4, next);
  for (int i = 0; i < 7; ++i) shmem_long_p(words, 1, next);
  for (int i = 0; i < 6; ++i) (void)shmem_long_atomic_fetch_add(words, 1, next);
  shmem_double_ibput(data, own, 4, 4, 2, 3, next);
  for (int i = 0; i < 3; ++i) shmem_barrier_all();
  shmem_double_sum_reduce(SHMEM_TEAM_WORLD, data, data + 8, 8);
  for (int i = 0; i < 2; ++i) shmem_alltoallmem(SHMEM_TEAM_WORLD, data, data + pes * 32, 16);
  shmem_free(data);
}

// Contexts of a team, in which PEs have other numbers: the puts of all go to PE 0.
static void contexts(void) {
  shmem_team_t back;
  shmem_ctx_t ctx;
  shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, -1, pes, NULL, 0, &back);
  shmem_team_create_ctx(back, 0, &ctx);
  const long value = 5;
  for (int i = 0; i < 9; ++i) shmem_ctx_long_put(ctx, words, &value, 1, pes - 1);
  shmem_ctx_quiet(ctx);
  shmem_ctx_destroy(ctx);
  for (int i = 0; i < 4; ++i) shmem_team_sync(back);
  shmem_team_destroy(back);
}

static void* work(void* place) {
  for (int i = 0; i < rounds; ++i) shmem_long_atomic_inc((long*)place, next);
  return NULL;
}

static void threads(void) {
  pthread_t started[thread_count];
  for (int t = 0; t < thread_count; ++t) pthread_create(&started[t], NULL, work, words + t);
  for (int t = 0; t < thread_count; ++t) pthread_join(started[t], NULL);
}

// `first` and `last` are the models that start first and end last.
static void both(const char* first, const char* last) {
  if (strcmp(first, "mpi") == 0) MPI_Init(NULL, NULL);
  shmem_init();
  if (strcmp(first, "mpi") != 0) MPI_Init(NULL, NULL);
  for (int i = 0; i < 4; ++i) MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 3; ++i) shmem_barrier_all();
  if (strcmp(last, "mpi") != 0) MPI_Finalize();
  for (int i = 0; i < 2; ++i) shmem_sync_all();
  shmem_finalize();
  if (strcmp(last, "mpi") == 0) MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(last, "mpi") == 0) MPI_Finalize();
}

// A session, which one rank alone has.
static void session(void) {
  MPI_Session own = MPI_SESSION_NULL;
  shmem_init();
  if (shmem_my_pe() == 0) MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &own);
  shmem_barrier_all();
  shmem_finalize();
  if (own != MPI_SESSION_NULL) MPI_Session_finalize(&own);
}

int main(int argc, char** argv) {
  const char* act = argc > 1 ? argv[1] : "";
  if (strncmp(act, "both", 4) == 0) {
    both(strstr(act, "mpi_first") != NULL ? "mpi" : "shmem", strstr(act, "mpi_last") != NULL ? "mpi" : "shmem");
    return 0;
  }
  if (strcmp(act, "session") == 0) {
    session();
    return 0;
  }
  int provided;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  me = shmem_my_pe();
  pes = shmem_n_pes();
  next = (me + 1) % pes;
  words = shmem_calloc(thread_count, sizeof *words);
  if (strcmp(act, "known") == 0) known();
  if (strcmp(act, "contexts") == 0) contexts();
  if (strcmp(act, "threads") == 0) threads();
  if (strcmp(act, "exit") == 0) {
    known();
    shmem_sync_all();
    if (me == pes - 1) shmem_global_exit(7);
    shmem_long_wait_until(words, SHMEM_CMP_EQ, -1);
  }
  if (strcmp(act, "again") == 0) {
    shmem_finalize();
    shmem_init();
    shmem_barrier_all();
  }
  shmem_finalize();
  return 0;
}
