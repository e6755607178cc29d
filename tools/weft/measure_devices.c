// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// What `weft tune --devices` starts on two ranks of a host: times messages between memory of the device, mapped and in
// chunks through the host's memory.
//
//   weft-measure-devices ROUNDS MICROSECONDS DRIVER BYTES ...
//
// A round times each way once, for about so many microseconds. Rank 0 prints, with a number for each round, the time of
// a message in a window of them:
//
//   BYTES CHUNK DEPTH MICROSECONDS...      CHUNK and DEPTH are 0 where the receiver maps the memory
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measuring.h"

enum { WINDOW = 8 };

static int rank;
static unsigned char *out, *in, *here;

struct way {
  int chunk, depth;
};
static const struct way ways[] = {{0, 0},         {16 << 10, 1},  {16 << 10, 2}, {16 << 10, 4}, {32 << 10, 1},
                                  {32 << 10, 2},  {32 << 10, 4},  {64 << 10, 1}, {64 << 10, 2}, {64 << 10, 4},
                                  {128 << 10, 1}, {128 << 10, 2}, {128 << 10, 4}};
enum { WAYS = sizeof ways / sizeof *ways };

// Messages that go eagerly have no chunks: the last way but one, the default, stands for theirs.
static int is_wanted(const struct way* way, int bytes) {
  const int usual = way->chunk == 128 << 10 && way->depth == 2;
  return way->chunk == 0 || usual || (bytes > 32 << 10 && way->chunk <= bytes);
}

static void* on_device(const char* driver, int bytes) {
  void* memory = NULL;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "weft_mem_device", driver);
  MPI_Alloc_mem(bytes, info, &memory);
  MPI_Info_free(&info);
  return memory;
}

static void copy(void* to, const void* from, int bytes) {
  MPI_Sendrecv(from, bytes, MPI_BYTE, 0, 1, to, bytes, MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static double windows(int bytes, int count) {
  MPI_Request requests[WINDOW];
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = now_us();
  for (int n = 0; n < count; ++n) {
    for (int i = 0; i < WINDOW; ++i) {
      if (rank == 0) {
        MPI_Isend(out, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[i]);
      } else {
        MPI_Irecv(in, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[i]);
      }
    }
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    if (rank == 0) MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
  }
  return (now_us() - start) / count / WINDOW;
}

static void measure(int bytes, int rounds, double block_us) {
  static double us[WAYS][MOST_ROUNDS];
  for (int i = 0; i < bytes; ++i) here[i] = (unsigned char)(i * 7 + i / 251);
  copy(out, here, bytes);
  for (int r = -1; r < rounds; ++r) {  // the first to get warm
    for (int w = 0; w < WAYS; ++w) {
      if (!is_wanted(&ways[w], bytes)) continue;
      memset(here, 0, (size_t)bytes);
      copy(in, here, bytes);
      set("WEFT_DEVICE_MAP_FROM", ways[w].chunk == 0 ? 1 : (MPI_Count)1 << 40);
      set("WEFT_DEVICE_CHUNK", ways[w].chunk);
      set("WEFT_DEVICE_DEPTH", ways[w].depth);
      double once = windows(bytes, 1);
      MPI_Bcast(&once, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
      const double wanted = block_us / (once * WINDOW + 1e-3);
      us[w][r < 0 ? 0 : r] = windows(bytes, wanted < 1 ? 1 : wanted > 10000 ? 10000 : (int)wanted);
      copy(here, in, bytes);
      for (int i = 0; rank == 1 && i < bytes; ++i) {
        if (here[i] != (unsigned char)(i * 7 + i / 251)) die("data are wrong", "see WEFT_DEVICE_CHUNK");
      }
    }
  }
  for (int w = 0; w < WAYS && rank == 0; ++w) {
    if (!is_wanted(&ways[w], bytes)) continue;
    printf("%d %d %d", bytes, ways[w].chunk, ways[w].depth);
    for (int r = 0; r < rounds; ++r) printf(" %.4g", us[w][r]);
    printf("\n");
  }
}

int main(int argc, char** argv) {
  int provided, ranks, most = 1;
  MPI_Init(&argc, &argv);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 5 || ranks != 2) die("usage, on two ranks", "weft-measure-devices ROUNDS MICROSECONDS DRIVER BYTES ...");
  const int rounds = rounds_in(argv[1]);
  for (int i = 4; i < argc; ++i) {
    if (atoi(argv[i]) < 1) die("this is no number of bytes", argv[i]);
    if (atoi(argv[i]) > most) most = atoi(argv[i]);
  }
  out = on_device(argv[3], most);
  in = on_device(argv[3], most);
  here = malloc((size_t)most);
  if (here == NULL) die("no memory for a message of bytes", argv[argc - 1]);
  for (int i = 4; i < argc; ++i) measure(atoi(argv[i]), rounds, atof(argv[2]));
  MPI_Free_mem(out);
  MPI_Free_mem(in);
  free(here);
  MPI_T_finalize();
  MPI_Finalize();
  return 0;
}
