// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Ranks in namespaces of processes of their own, as containers make them: each is process 1 of its own, with the same
// addresses. The number of the other names the rank itself: messages and puts bring the other's data all the same.
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 3 << 20, CANNOT_RUN = 77 };
static unsigned char out[BYTES], in[BYTES], window[BYTES];

static int count_wrong(const unsigned char* data, int expected, const char* what, int rank) {
  int wrong = 0;
  for (int i = 0; i < BYTES; ++i) wrong += data[i] != expected;
  if (wrong != 0) fprintf(stderr, "namespaces: rank %d: %d bytes of %s are wrong\n", rank, wrong, what);
  return wrong != 0;
}

static int exchange(void) {
  int rank, errors = 0;
  MPI_Win win;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 1; round < 5; ++round) {
    memset(out, 10 * round + rank, BYTES);
    memset(in, 0, BYTES);
    MPI_Sendrecv(out, BYTES, MPI_BYTE, 1 - rank, 0, in, BYTES, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    errors += count_wrong(in, 10 * round + 1 - rank, "a message", rank);
    errors += count_wrong(out, 10 * round + rank, "the data sent", rank);
  }
  MPI_Win_create(window, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Put(out, BYTES, MPI_BYTE, 1 - rank, 0, BYTES, MPI_BYTE, win);
  MPI_Win_fence(0, win);
  errors += count_wrong(window, 40 + 1 - rank, "the window", rank);
  MPI_Get(in, BYTES, MPI_BYTE, 1 - rank, 0, BYTES, MPI_BYTE, win);
  MPI_Win_fence(0, win);
  errors += count_wrong(in, 40 + rank, "what was got", rank);
  MPI_Win_free(&win);
  MPI_Finalize();
  return errors != 0;
}

int main(int argc, char** argv) {
  if (argc > 1) return exchange();
  if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) {
    perror("namespaces: the system gives no namespace of processes");
    return CANNOT_RUN;
  }
  personality(ADDR_NO_RANDOMIZE);  // the same addresses in both ranks
  const pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", argv[0], "inside", (char*)NULL);
    _exit(2);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return 2;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}
