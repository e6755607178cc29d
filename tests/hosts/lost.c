// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The work of ranks while hosts are lost and cables fail.
//
//   lost wait              each waits for a message that never comes: from rank 0, which waits for the last
//   lost compute SECONDS   without a call, then a barrier
//   lost busy SECONDS      the first rank of a host (an even one) computes, the others wait for a message
//   lost ring SECONDS      messages of many sizes in a ring, and their sum; contents are checked. Rank 0 says how many
//   lost ring FILE         until there is this file
//   lost leave SECONDS     the last two compute, the others call MPI_Finalize
//   lost join SECONDS      the last two call MPI_Init so much later than the others
//
// Each rank says "ready RANK PID" once all are there; "join" at once, with the launcher's number.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int me, ranks;

static void wait_for_ever(void) {
  int word;
  MPI_Recv(&word, 1, MPI_INT, me == 0 ? ranks - 1 : 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void compute(double seconds) {
  const double end = MPI_Wtime() + seconds;
  volatile double sum = 0;
  while (MPI_Wtime() < end) {
    for (int i = 0; i < 1000; ++i) sum += i;
    usleep(1000);
  }
}

static void join_late(double seconds) {
  const char* rank = getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("PMIX_RANK");
  const char* size = getenv("PMI_SIZE");
  printf("ready %s %d\n", rank, (int)getpid());
  fflush(stdout);
  if (rank && size && atoi(rank) >= atoi(size) - 2) usleep((useconds_t)(1e6 * seconds));
}

static int expected(int round, int rank, int i) {
  return round * 31 + rank * 1009 + i;
}

static void ring(double seconds, const char* file) {
  enum { most = 100000 };
  static int out[most], in[most];
  const double end = MPI_Wtime() + seconds;
  const int next = (me + 1) % ranks, before = (me + ranks - 1) % ranks;
  int more = 1, round = 0;
  for (; more; ++round) {
    const int count = 1 + (round * 7919) % (round % 8 == 0 ? most : 1000);
    for (int i = 0; i < count; ++i) out[i] = expected(round, me, i);
    memset(in, 0xff, sizeof *in * (size_t)count);
    MPI_Sendrecv(out, count, MPI_INT, next, 2, in, count, MPI_INT, before, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; ++i) {
      if (in[i] != expected(round, before, i)) {
        fprintf(stderr, "rank %d, round %d: element %d of %d is %d\n", me, round, i, count, in[i]);
        MPI_Abort(MPI_COMM_WORLD, 3);
      }
    }
    int go_on = *file == '/' ? access(file, F_OK) != 0 : MPI_Wtime() < end, sum = 0;
    MPI_Allreduce(&go_on, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    more = sum == ranks;
  }
  if (me == 0) printf("rounds %d\n", round);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "wait";
  const double seconds = argc > 2 ? atof(argv[2]) : 1;
  if (strcmp(what, "join") == 0) join_late(seconds);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(what, "join") != 0) printf("ready %d %d\n", me, (int)getpid());
  fflush(stdout);
  if (strcmp(what, "wait") == 0) wait_for_ever();
  if (strcmp(what, "compute") == 0) compute(seconds);
  if (strcmp(what, "compute") == 0) MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(what, "busy") == 0 && me % 2 == 0) compute(seconds);
  if (strcmp(what, "busy") == 0) wait_for_ever();
  if (strcmp(what, "ring") == 0) ring(seconds, argc > 2 ? argv[2] : "");
  if (strcmp(what, "leave") == 0 && me >= ranks - 2) compute(seconds);
  MPI_Finalize();
  return 0;
}
