// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Counts the sockets of a rank before and after its first messages to other hosts: these make the connections. The
// first argument is a folder that the hosts share; with another one the rank has no descriptor left for a connection.
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int sockets(void) {
  int count = 0;
  DIR* folder = opendir("/proc/self/fd");
  for (struct dirent* entry; (entry = readdir(folder)) != NULL;) {
    char path[300], target[32] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
    if (readlink(path, target, sizeof target - 1) > 0 && strncmp(target, "socket:", 7) == 0) ++count;
  }
  closedir(folder);
  return count;
}

// All ranks have counted before the first message is sent. This must not use MPI.
static void meet(const char* folder, int rank, int size) {
  char name[4096];
  snprintf(name, sizeof name, "%s/%d", folder, rank);
  FILE* file = fopen(name, "w");
  if (file != NULL) fclose(file);
  for (int r = 0; r < size; ++r) {
    snprintf(name, sizeof name, "%s/%d", folder, r);
    while (access(name, F_OK) != 0) usleep(1000);
  }
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc < 2 || size != 2) return 2;
  const int before = sockets();
  meet(argv[1], rank, size);
  if (argc > 2) {
    const int next = dup(0);  // the lowest free descriptor
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = (rlim_t)next;
    close(next);
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  int mine = rank, theirs = -1;
  MPI_Sendrecv(&mine, 1, MPI_INT, 1 - rank, 0, &theirs, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const int after = sockets();
  printf("%d sockets at the start, %d after a message\n", before, after);
  MPI_Finalize();
  return after > before ? 0 : 1;
}
