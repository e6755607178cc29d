// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Ranks that share their cores with processes that compute still exchange messages quickly: a rank that only yielded
// would wait for a time slice of its neighbour with every message.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.hpp"

int main(int argc, char** argv) {
  const pid_t parent = getpid();
  const pid_t neighbour = fork();  // bound as this rank is
  if (neighbour == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(30);
    for (volatile bool on = getppid() == parent; on;) continue;
    _exit(0);
  }
  expect::start(&argc, &argv);
  constexpr int rounds = 1000;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < rounds; ++i) MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - begin;
  kill(neighbour, SIGKILL);
  waitpid(neighbour, nullptr, 0);
  // A time slice is 3 to 4 ms, and a barrier has two waits.
  if (expect::rank == 0) EXPECT_AT_MOST("seconds for a barrier", seconds / rounds, 0.003);
  return expect::finish();
}
