// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The kernel refuses process_vm_readv and process_vm_writev, as in containers with a strict seccomp profile: large
// messages arrive whole all the same. `late`: permission is lost after messages have gone that way.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { BYTES = 3 << 20, ROUNDS = 4 };

static void refuse_cross_memory(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    perror("no_cma: seccomp");
    exit(2);
  }
  char byte = 0;
  struct iovec here = {&byte, 1};
  if (process_vm_readv(getpid(), &here, 1, &here, 1, 0) != -1 || errno != EPERM) {
    fprintf(stderr, "no_cma: the filter does not refuse\n");
    exit(2);
  }
}

static int exchange(int rank, unsigned char* out, unsigned char* in, int round) {
  MPI_Request requests[2];
  for (int i = 0; i < BYTES; ++i) out[i] = (unsigned char)(i * 7 + round * 31 + rank);
  memset(in, 0, BYTES);
  MPI_Irecv(in, BYTES, MPI_BYTE, 1 - rank, round, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, BYTES, MPI_BYTE, 1 - rank, round, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < BYTES; ++i) {
    if (in[i] != (unsigned char)(i * 7 + round * 31 + (1 - rank))) {
      fprintf(stderr, "no_cma: rank %d, round %d: byte %d is wrong\n", rank, round, i);
      return 1;
    }
  }
  return 0;
}

int main(int argc, char** argv) {
  const int late = argc > 1 && strcmp(argv[1], "late") == 0;
  int rank, errors = 0;
  unsigned char *out = malloc(BYTES), *in = malloc(BYTES);
  if (!late) refuse_cross_memory();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < ROUNDS; ++round) {
    if (late && round == 2) refuse_cross_memory();
    errors += exchange(rank, out, in, round);
  }
  MPI_Finalize();
  free(out);
  free(in);
  return errors != 0;
}
