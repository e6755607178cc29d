// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The memory of each host's ranks together, the proportional share (PSS) in KiB, without files: after MPI_Init and a
// barrier, after each rank has exchanged 8 bytes with every other one, and after it has exchanged 64 KiB.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { large = 64 << 10 };

// Without files: the share of libraries depends on the number of processes that have them mapped.
static long pss_kib(void) {
  char line[256];
  long kib = 0;
  int found = 0;
  FILE* file = fopen("/proc/self/smaps_rollup", "r");
  if (file == NULL) return -1;
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "Pss_Anon:", 9) != 0 && strncmp(line, "Pss_Shmem:", 10) != 0) continue;
    kib += strtol(strchr(line, ':') + 1, NULL, 10);
    ++found;
  }
  fclose(file);
  return found == 2 ? kib : -1;
}

static long all_still(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  const long kib = pss_kib();
  MPI_Barrier(MPI_COMM_WORLD);
  return kib;
}

static int exchange(int rank, int size, int bytes, unsigned char* out, unsigned char* in) {
  int wrong = 0;
  for (int i = 1; i < size; ++i) {
    const int to = (rank + i) % size, from = (rank - i + size) % size;
    memset(out, rank, (size_t)bytes);
    MPI_Sendrecv(out, bytes, MPI_BYTE, to, bytes, in, bytes, MPI_BYTE, from, bytes, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (in[0] != (unsigned char)from || in[bytes - 1] != (unsigned char)from) ++wrong;
  }
  return wrong;
}

int main(int argc, char** argv) {
  static unsigned char out[large], in[large];
  memset(out, 1, sizeof out);  // the program's own, there from the beginning
  memset(in, 1, sizeof in);
  MPI_Init(&argc, &argv);
  int rank, size, here, wrong = 0;
  long held[3], sum[3];
  MPI_Comm host;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  held[0] = all_still();
  wrong += exchange(rank, size, 8, out, in);
  held[1] = all_still();
  wrong += exchange(rank, size, large, out, in);
  held[2] = all_still();
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, &here);
  MPI_Reduce(held, sum, 3, MPI_LONG, MPI_SUM, 0, host);
  if (rank == 0) printf("held %ld %ld %ld\n", sum[0], sum[1], sum[2]);
  MPI_Comm_free(&host);
  MPI_Finalize();
  return wrong != 0 || held[0] < 0;
}
