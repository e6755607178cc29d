// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// `weft tune --paths` starts this program on two ranks of a host. It times a cache line that the two write in turn, and
// messages by each path in turn.
//
//   weft-measure-paths ROUNDS MICROSECONDS BYTES ...
//
// A round times each path once, for about so many microseconds. The paths are chosen by settings, as control variables:
// R0 is the way of the kernel, R1 that of cells. Rank 0 prints, with a number for each round, half a round trip:
//
//   line NANOSECONDS...
//   BYTES PATH MICROSECONDS...
#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measuring.h"

static int rank;
static unsigned char *out, *in;

struct Path {
  const char* name;
  MPI_Count eager_limit;
  int crossing;  // a word of WEFT_CROSSING
};
enum { CELLS = 1, KERNEL = 2 };
static const struct Path paths[] = {{"E1", 128 << 10, CELLS}, {"R0", 0, KERNEL}, {"R1", 0, CELLS}};
enum { PATHS = sizeof paths / sizeof *paths };

static void send(int bytes) {
  MPI_Send(out, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
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
      set_word("WEFT_CROSSING", paths[p].crossing);
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

// One word, alone in the first lines of shared memory: rank 0 writes odd numbers, rank 1 the even ones that follow.
static double line_ns(_Atomic uint64_t* word) {
  enum { BURSTS = 20, TRIPS = 200 };
  double best = 0;
  for (int burst = 0; burst < BURSTS; ++burst) {  // the best one: a burst that was interrupted says nothing
    MPI_Barrier(MPI_COMM_WORLD);
    const uint64_t before = atomic_load_explicit(word, memory_order_acquire);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = now_us();
    for (uint64_t trip = 0; trip < TRIPS; ++trip) {
      const uint64_t odd = before + 2 * trip + 1;
      if (rank == 0) atomic_store_explicit(word, odd, memory_order_release);
      const uint64_t awaited = rank == 0 ? odd + 1 : odd;
      while (atomic_load_explicit(word, memory_order_acquire) != awaited) continue;
      if (rank == 1) atomic_store_explicit(word, odd + 1, memory_order_release);
    }
    const double ns = (now_us() - start) * 1e3 / TRIPS / 2;
    if (burst == 0 || ns < best) best = ns;
  }
  return best;
}

static void measure_line(int rounds) {
  enum { LINES = 256 };  // bytes: processors fetch lines in pairs
  unsigned char* memory;
  MPI_Aint bytes;
  int unit;
  MPI_Win window;
  MPI_Win_allocate_shared(rank == 0 ? 2 * LINES : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_shared_query(window, 0, &bytes, &unit, &memory);
  memory += (LINES - (uintptr_t)memory % LINES) % LINES;
  _Atomic uint64_t* const word = (_Atomic uint64_t*)memory;
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  if (rank == 0) atomic_store(word, 0);
  MPI_Win_sync(window);
  if (rank == 0) printf("line");
  for (int r = 0; r < rounds; ++r) {
    const double ns = line_ns(word);
    if (rank == 0) printf(" %.4g", ns);
  }
  if (rank == 0) printf("\n");
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}

int main(int argc, char** argv) {
  int provided, ranks;
  MPI_Init(&argc, &argv);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 4 || ranks != 2) die("usage, on two ranks", "weft-measure-paths ROUNDS MICROSECONDS BYTES ...");
  const int rounds = rounds_in(argv[1]);
  measure_line(rounds);
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
