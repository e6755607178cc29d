// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The calls whose instructions instructions.py counts: everything called from a function count_* is taken, nothing
// else.
//   calls N [--multiple]
// Ranks 0 and 1 run N rounds of 16 messages of 8 bytes; receives are posted before their messages are sent.
#include <mpi.h>

#include "bench.h"

enum { BATCH = 16 };

#define COUNTED static __attribute__((noinline))

COUNTED void count_isend(long* data, MPI_Request* requests) {
  for (int i = 0; i < BATCH; ++i) MPI_Isend(&data[i], 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[i]);
}

COUNTED void count_irecv(long* data, MPI_Request* requests) {
  for (int i = 0; i < BATCH; ++i) MPI_Irecv(&data[i], 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[i]);
}

// By the time of these calls the requests are complete.
COUNTED void count_wait(MPI_Request* requests) {
  for (int i = 0; i < BATCH / 2; ++i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

COUNTED void count_test(MPI_Request* requests) {
  for (int i = BATCH / 2; i < BATCH; ++i) {
    int done = 0;
    while (!done) MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
  }
}

static void signal_to(int rank) {
  MPI_Send(NULL, 0, MPI_BYTE, rank, 2, MPI_COMM_WORLD);
}
static void signal_from(int rank) {
  MPI_Recv(NULL, 0, MPI_BYTE, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void messages(int rank, int rounds) {
  long data[BATCH];
  MPI_Request requests[BATCH];
  for (int n = 0; n < rounds; ++n) {
    if (rank == 0) {
      for (int i = 0; i < BATCH; ++i) data[i] = (long)n * BATCH + i;
      signal_from(1);
      count_isend(data, requests);
      signal_from(1);
      count_wait(requests);
      count_test(requests);
    } else {
      count_irecv(data, requests);
      signal_to(0);
      MPI_Waitall(BATCH, requests, MPI_STATUSES_IGNORE);
      signal_to(0);
      for (int i = 0; i < BATCH; ++i) {
        if (data[i] != (long)n * BATCH + i) bench_die("a message arrived with wrong bytes");
      }
    }
  }
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? (int)bench_size(argv[1]) : 0;
  const int multiple = argc > 2 && strcmp(argv[2], "--multiple") == 0;
  int provided = MPI_THREAD_SINGLE;
  if (rounds < 1) bench_die("usage: calls ROUNDS [--multiple]");
  if (multiple) {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    bench_need_level(provided, MPI_THREAD_MULTIPLE, "MULTIPLE");
  } else {
    MPI_Init(&argc, &argv);
  }
  const int rank = bench_rank_of(2);
  MPI_Info info = bench_info();
  MPI_Comm_set_info(MPI_COMM_WORLD, info);
  MPI_Info_free(&info);
  if (rank < 2) messages(rank, rounds);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
