// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Traffic of all kinds without end, for kill.py: small and large messages, collective operations, memory, sleeping
// ranks.
#include "p2p.h"

int main(int argc, char** argv) {
  start(&argc, &argv);
  enum { large = 3 << 20 };
  const int to = (me + 1) % ranks, from = (me + ranks - 1) % ranks;
  char *out = NULL, *in = malloc(large);
  MPI_Alloc_mem(large, MPI_INFO_NULL, &out);
  memset(out, 1, large);
  memset(in, 0, large);
  printf("pid %d\n", (int)getpid());
  fflush(stdout);
  for (int i = 0;; ++i) {
    const int bytes = i % 16 == 0 ? large : i % 4 == 0 ? 20000 : i % 3 == 0 ? 8192 : 64;
    MPI_Request r[2];
    MPI_Irecv(in, large, MPI_BYTE, from, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(out, bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    if (i % 8 == 0) MPI_Barrier(MPI_COMM_WORLD);
    if (i % 64 == 0 && me == 0) usleep(5000);  // the others fall asleep
  }
}
