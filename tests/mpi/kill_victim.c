// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Traffic of all kinds without end, for kill.py and others: small and large messages, collective operations, windows,
// memory, sleeping ranks.
#include "p2p.h"

int main(int argc, char** argv) {
  start(&argc, &argv);
  enum { large = 3 << 20 };
  const int to = (me + 1) % ranks, from = (me + ranks - 1) % ranks;
  char *out = NULL, *in = malloc(large);
  MPI_Alloc_mem(large, MPI_INFO_NULL, &out);
  memset(out, 1, large);
  memset(in, 0, large);
  int64_t* mine = NULL;
  MPI_Win window;
  MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
  MPI_Win_lock_all(0, window);
  printf("pid %d\n", (int)getpid());
  fflush(stdout);
  for (int i = 0;; ++i) {
    const int bytes = i % 16 == 0 ? large : i % 4 == 0 ? 20000 : i % 3 == 0 ? 8192 : 64;
    MPI_Request r[2];
    MPI_Irecv(in, large, MPI_BYTE, from, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(out, bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    const int64_t one = 1;
    int64_t before;
    MPI_Put(&one, 1, MPI_INT64_T, to, 1, 1, MPI_INT64_T, window);
    MPI_Fetch_and_op(&one, &before, MPI_INT64_T, from, 0, MPI_SUM, window);
    if (i % 4 == 0) MPI_Win_flush_all(window);
    if (i % 8 == 0) MPI_Barrier(MPI_COMM_WORLD);
    if (i % 64 == 0 && me == 0) usleep(5000);  // the others fall asleep
  }
}
