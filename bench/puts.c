// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// It counts as calls.c does, for MPI_Put, MPI_Get, MPI_Fetch_and_op, MPI_Accumulate and MPI_Compare_and_swap of 8 bytes
// between rank 0 and rank 1, and for MPI_Win_flush; and for MPI_Reduce_local of 4 KiB, which updates of arrays and
// reductions are made of. A program of its own: not every library need have windows.
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

// Adds 3 to the word behind the others, which is `before`.
static __attribute__((noinline)) void count_update(int64_t before, MPI_Win window) {
  const int64_t one = 1, now = before + 1;
  int64_t found;
  MPI_Compare_and_swap(&now, &before, &found, MPI_INT64_T, 1, BATCH * 8, window);
  MPI_Fetch_and_op(&one, &found, MPI_INT64_T, 1, BATCH * 8, MPI_SUM, window);
  MPI_Accumulate(&one, 1, MPI_INT64_T, 1, BATCH * 8, 1, MPI_INT64_T, MPI_SUM, window);
  MPI_Win_flush(1, window);
}

static __attribute__((noinline)) void count_reduction(const int* more, int* sums, int count) {
  MPI_Reduce_local(more, sums, count, MPI_INT, MPI_SUM);
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? (int)bench_size(argv[1]) : 0;
  const int multiple = argc > 2 && strcmp(argv[2], "--multiple") == 0;
  int provided;
  if (rounds < 1) bench_die("usage: puts ROUNDS [--multiple]");
  MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  if (multiple) bench_need_level(provided, MPI_THREAD_MULTIPLE, "MULTIPLE");
  const int rank = bench_rank_of(2);

  long data[BATCH] = {0}, back[BATCH], *memory;
  int more[1024], sums[1024] = {0};
  for (int i = 0; i < 1024; ++i) more[i] = i;
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
    count_reduction(more, sums, 1024);
    for (int i = 0; i < BATCH; ++i) count_update(3L * (n * BATCH + i), window);
  }
  MPI_Win_sync(window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(window);
  if (rank == 1 && memory[BATCH - 1] != (long)rounds * BATCH - 1) bench_die("a put arrived with wrong bytes");
  if (rank == 0 && sums[1023] != 1023 * rounds) bench_die("a sum is wrong");
  if (rank == 1 && memory[BATCH] != 3L * rounds * BATCH) bench_die("an update was lost");
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
