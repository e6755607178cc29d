// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI and OpenSHMEM in one program. A PE that waits in shmem_wait_until makes MPI's progress, and a rank in MPI_Recv
// that of OpenSHMEM, in both orders: two runtimes would wait for each other. Arguments: which interface starts first,
// which ends first, and how many rounds.

#include <mpi.h>
#include <shmem.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

enum { large = 200000 };  // a message that needs its sender, and its receiver, to make progress

int main(int argc, char** argv) {
  const int shmem_first = argc > 1 && strcmp(argv[1], "shmem") == 0;
  const int shmem_last = argc > 2 && strcmp(argv[2], "shmem") == 0;
  const int rounds = argc > 3 ? atoi(argv[3]) : 20;
  if (shmem_first) shmem_init();
  MPI_Init(&argc, &argv);
  if (!shmem_first) shmem_init();
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  EXPECT(rank == me && ranks == pes);
  const int next = (me + 1) % pes, before = (me + pes - 1) % pes;
  long* word = shmem_calloc(1, sizeof *word);
  static long static_word;
  char *data = malloc(large), *came = malloc(large);
  // A message is under way to each. In one half of a round even PEs wait for a word first and odd ones for the message
  // first, and in the other half the other way round: the message needs the progress of PEs that wait for a word.
  long* words[2] = {word, &static_word};
  for (int half = 1; half <= 2 * rounds; ++half) {
    MPI_Request request;
    memset(data, half, large);
    MPI_Isend(data, large, MPI_CHAR, next, half, MPI_COMM_WORLD, &request);
    for (int step = 0; step < 2; ++step) {
      if ((me + half + step) % 2 == 0) {
        shmem_long_p(words[half % 2], half, next);
        shmem_long_wait_until(words[half % 2], SHMEM_CMP_GE, half);
      } else {
        MPI_Recv(came, large, MPI_CHAR, before, half, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    }
    EXPECT(came[0] == (char)half && came[large - 1] == (char)half);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  // Symmetric memory in a window.
  MPI_Win win;
  long* shown = shmem_calloc(1, sizeof *shown);
  MPI_Win_create(shown, sizeof *shown, sizeof *shown, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  const long value = 10 + me;
  MPI_Put(&value, 1, MPI_LONG, next, 0, 1, MPI_LONG, win);
  MPI_Win_fence(0, win);
  EXPECT(*shown == 10 + before && shmem_long_g(shown, next) == 10 + me);
  MPI_Win_free(&win);
  free(data);
  free(came);
  const int failed = failures();
  if (shmem_last) {
    MPI_Finalize();
    shmem_barrier_all();
    shmem_long_p(word, -1, next);
    shmem_long_wait_until(word, SHMEM_CMP_EQ, -1);
    shmem_finalize();
  } else {
    shmem_finalize();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
  }
  return failed;
}
