// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// What `weft tune --paths` starts on two ranks of a host: times messages by each path in turn.
//
//   weft-measure-paths ROUNDS MICROSECONDS BYTES ...
//
// A round times each path once, for about so many microseconds. The paths are chosen by settings, as control variables.
// Rank 0 prints, with a number for each round, half a round trip:
//
//   BYTES PATH MICROSECONDS...
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measuring.h"

static int rank;
static unsigned char *out, *in;

struct Path {
  const char* name;
  MPI_Count eager_limit, read_limit;
};
static const struct Path paths[] = {{"E1", 128 << 10, (MPI_Count)1 << 40}, {"R0", 0, (MPI_Count)1 << 40}, {"R1", 0, 0}};
enum { PATHS = sizeof paths / sizeof *paths };

// Not by MPI_Send, which takes R1 to a rank that is near.
static void send(int bytes) {
  MPI_Request request;
  MPI_Isend(out, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static double trips(int bytes, int count) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = now_us();
  for (int i = 0; i < count; ++i) {
    if (rank == 0) send(bytes);
    MPI_Recv(in, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) send(bytes);
  }
  return (now_us() - start) / count / 2;
}

static void measure(int bytes, int rounds, double block_us) {
  static double us[PATHS][MOST_ROUNDS];
  for (int i = 0; i < bytes; ++i) out[i] = (unsigned char)(i * 7 + i / 251 + rank);
  for (int r = -1; r < rounds; ++r) {  // the first to get warm, and to know how many
    for (int p = 0; p < PATHS; ++p) {
      if (bytes > paths[p].eager_limit && paths[p].eager_limit != 0) continue;
      set("WEFT_EAGER_LIMIT", paths[p].eager_limit);
      set("WEFT_R0_LIMIT", paths[p].read_limit);
      memset(in, 0, (size_t)bytes);
      double once = trips(bytes, 4);
      MPI_Bcast(&once, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
      const double wanted = block_us / (2 * once + 1e-3);
      const double time = trips(bytes, wanted < 2 ? 2 : wanted > 100000 ? 100000 : (int)wanted);
      for (int i = 0; i < bytes; ++i) {
        if (in[i] != (unsigned char)(i * 7 + i / 251 + 1 - rank)) die("data are wrong by path", paths[p].name);
      }
      if (r >= 0) us[p][r] = time;
    }
  }
  for (int p = 0; p < PATHS && rank == 0; ++p) {
    if (bytes > paths[p].eager_limit && paths[p].eager_limit != 0) continue;
    printf("%d %s", bytes, paths[p].name);
    for (int r = 0; r < rounds; ++r) printf(" %.4g", us[p][r]);
    printf("\n");
  }
}

int main(int argc, char** argv) {
  int provided, ranks;
  MPI_Init(&argc, &argv);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 4 || ranks != 2) die("usage, on two ranks", "weft-measure-paths ROUNDS MICROSECONDS BYTES ...");
  const int rounds = rounds_in(argv[1]);
  for (int i = 3; i < argc; ++i) {
    const int bytes = atoi(argv[i]);
    if (bytes < 1) die("this is no number of bytes", argv[i]);
    out = malloc((size_t)bytes);
    in = malloc((size_t)bytes);
    if (out == NULL || in == NULL) die("no memory for a message of bytes", argv[i]);
    measure(bytes, rounds, atof(argv[2]));
    free(out);
    free(in);
  }
  MPI_T_finalize();
  MPI_Finalize();
  return 0;
}
