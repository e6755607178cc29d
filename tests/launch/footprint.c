// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The memory of a rank, in KiB: "ranks 16 empty 200 start 500 talked 2600": memory of its own and its part of what the
// ranks of the host share, mean of all ranks, before MPI_Init, after it, and when it has sent to and received from all
// others by all paths. With the argument "one" it sends to its neighbour alone.
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static long own(void) {
  long all = 0, kib = 0;
  char line[256];
  FILE* file = fopen("/proc/self/smaps_rollup", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (sscanf(line, "Anonymous: %ld", &kib) == 1) all = kib;
  }
  if (file != NULL) fclose(file);
  return all;
}

// The segment of all ranks of this host: the part of it that takes memory, mapped or not.
static long shared(void) {
  long all = 0;
  DIR* folder = opendir("/proc/self/fd");
  for (struct dirent* entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
    char path[300], target[300];
    struct stat s;
    snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
    const ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0) continue;
    target[length] = 0;
    if (strstr(target, "memfd:weft") != NULL && stat(path, &s) == 0) all += (long)s.st_blocks / 2;
  }
  if (folder != NULL) closedir(folder);
  return all;
}

// Nobody has more or less by then, and nobody changes anything meanwhile.
static long held_by(int size) {
  MPI_Barrier(MPI_COMM_WORLD);
  const long kib = own() + shared() / size;
  MPI_Barrier(MPI_COMM_WORLD);
  return kib;
}

int main(int argc, char** argv) {
  static char out[1 << 20], in[1 << 20];
  const int sizes[] = {1, 4000, 8192, 20000, sizeof out};
  memset(out, 1, sizeof out);
  memset(in, 1, sizeof in);
  int rank, size, wrong = 0;
  long held[3] = {own(), 0, 0}, sums[3];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  held[1] = held_by(size);
  const int most = argc > 1 && strcmp(argv[1], "one") == 0 ? 1 : size - 1;
  for (int away = 1; away <= most; ++away) {
    const int to = (rank + away) % size, from = (rank + size - away) % size;
    for (int i = 0; i < 5; ++i) {
      const int bytes = sizes[i];
      memset(out, rank + i, (size_t)bytes);
      MPI_Sendrecv(out, bytes, MPI_CHAR, to, i, in, bytes, MPI_CHAR, from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int b = 0; b < bytes; ++b) wrong += in[b] != (char)(from + i);
    }
  }
  held[2] = held_by(size);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce(held, sums, 3, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("ranks %d empty %ld start %ld talked %ld\n", size, sums[0] / size, sums[1] / size, sums[2] / size);
  MPI_Finalize();
  return wrong != 0;
}
