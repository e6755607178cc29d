// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Nobody leaves a barrier before everybody entered it.
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "expect.hpp"

static double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Rank 0 compares all times, which came to it by point-to-point messages.
static void one_round(MPI_Comm comm, int late) {
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (rank == late) usleep(3000);
  double times[2] = {now(), 0};
  MPI_Barrier(comm);
  times[1] = now();
  if (rank != 0) {
    MPI_Send(times, 2, MPI_DOUBLE, 0, 1, comm);
    return;
  }
  double last_in = times[0], first_out = times[1];
  for (int r = 1; r < size; ++r) {
    MPI_Recv(times, 2, MPI_DOUBLE, r, 1, comm, MPI_STATUS_IGNORE);
    last_in = std::max(last_in, times[0]);
    first_out = std::min(first_out, times[1]);
  }
  EXPECT(last_in <= first_out, "with rank %d late, a rank left %g s early", late, last_in - first_out);
}

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  for (int late = 0; late < expect::size; ++late) one_round(MPI_COMM_WORLD, late);
  for (int i = 0; i < 2000; ++i) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_SELF);
  return expect::finish();
}
