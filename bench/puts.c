// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// As calls.c, for MPI_Put, MPI_Get, MPI_Fetch_and_op and MPI_Accumulate of 8 bytes between rank 0 and rank 1, and for
// MPI_Win_flush. A program of its own: not every library need have windows.
//   puts N [--multiple]
#include <mpi.h>
#include <stdint.h>

#include "bench.h"

enum { BATCH = 16 };

static __attribute__((noinline)) void count_put(const long* data, MPI_Win window) {
  for (int i = 0; i < BATCH; ++i) MPI_Put(&data[i], 8, MPI_BYTE, 1, i * 8, 8, MPI_BYTE, window);
}

static __attribute__((noinline)) void count_get(long* data, MPI_Win window) {
  for (int i = 0; i < BATCH; ++i) MPI_Get(&data[i], 8, MPI_BYTE, 1, i * 8, 8, MPI_BYTE, window);
}

// Adds 2 to the word behind the others.
static __attribute__((noinline)) void count_update(MPI_Win window) {
  const int64_t one = 1;
  int64_t found;
  MPI_Fetch_and_op(&one, &found, MPI_INT64_T, 1, BATCH * 8, MPI_SUM, window);
  MPI_Accumulate(&one, 1, MPI_INT64_T, 1, BATCH * 8, 1, MPI_INT64_T, MPI_SUM, window);
  MPI_Win_flush(1, window);
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 0;
  const int multiple = argc > 2 && strcmp(argv[2], "--multiple") == 0;
  int provided;
  if (rounds < 1) bench_die("usage: puts ROUNDS [--multiple]");
  MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  if (multiple) bench_need_level(provided, MPI_THREAD_MULTIPLE, "MULTIPLE");
  const int rank = bench_rank_of(2);

  long data[BATCH] = {0}, back[BATCH], *memory;
  MPI_Win window;
  MPI_Info info = bench_info();
  MPI_Win_allocate(sizeof data + 8, 1, info, MPI_COMM_WORLD, &memory, &window);
  MPI_Info_free(&info);
  memory[BATCH] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  if (rank == 0) {  // not counted: the first to a rank does more, and not always as much
    MPI_Put(data, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, window);
    MPI_Win_flush(1, window);
  }
  for (int n = 0; rank == 0 && n < rounds; ++n) {
    for (int i = 0; i < BATCH; ++i) data[i] = (long)n * BATCH + i;
    count_put(data, window);
    MPI_Win_flush(1, window);
    count_get(back, window);
    MPI_Win_flush(1, window);
    if (memcmp(back, data, sizeof data) != 0) bench_die("a get brought wrong bytes");
    for (int i = 0; i < BATCH; ++i) count_update(window);
  }
  MPI_Win_sync(window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(window);
  if (rank == 1 && memory[BATCH - 1] != (long)rounds * BATCH - 1) bench_die("a put arrived with wrong bytes");
  if (rank == 1 && memory[BATCH] != 2L * rounds * BATCH) bench_die("an update was lost");
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
