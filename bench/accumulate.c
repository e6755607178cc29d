// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Atomic operations of 8 bytes at rank 1, each with a flush: MPI_Fetch_and_op, MPI_Compare_and_swap, MPI_Accumulate;
// and MPI_Accumulate of 4096 bytes.
#include "onesided.h"

static int64_t counted;  // what all of them have added

static void fetch_and_op(struct onesided* o, size_t size, int iterations) {
  const int64_t one = 1;
  (void)size;
  for (int i = 0; i < iterations; ++i) {
    int64_t found = -1;
    MPI_Fetch_and_op(&one, &found, MPI_INT64_T, 1, 0, MPI_SUM, o->window);
    MPI_Win_flush(1, o->window);
    if (found != counted++) bench_die("an addition was lost");
  }
}

static void compare_and_swap(struct onesided* o, size_t size, int iterations) {
  (void)size;
  for (int i = 0; i < iterations; ++i) {
    const int64_t next = counted + 1;
    int64_t found = -1;
    MPI_Compare_and_swap(&next, &counted, &found, MPI_INT64_T, 1, 0, o->window);
    MPI_Win_flush(1, o->window);
    if (found != counted++) bench_die("a swap was lost");
  }
}

static void accumulate(struct onesided* o, size_t size, int iterations) {
  const int count = (int)(size / sizeof(int64_t));
  for (int i = 0; i < iterations; ++i) {
    MPI_Accumulate(o->mine, count, MPI_INT64_T, 1, 0, count, MPI_INT64_T, MPI_SUM, o->window);
    MPI_Win_flush(1, o->window);
    ++counted;
  }
}

int main(int argc, char** argv) {
  const struct bench_options options = bench_parse(argc, argv, NULL, 0);
  enum { LARGEST = 4096 };
  struct onesided o;
  onesided_start(&o, &argc, &argv, LARGEST);
  memset(o.memory, 0, LARGEST);
  for (size_t i = 0; i < LARGEST / sizeof(int64_t); ++i)
    memcpy(o.mine + i * sizeof(int64_t), &(int64_t){1}, sizeof(int64_t));
  onesided_meet(&o);
  const double fetch_us = onesided_measure(&o, fetch_and_op, 8, &options);
  const double swap_us = onesided_measure(&o, compare_and_swap, 8, &options);
  const double add_us = onesided_measure(&o, accumulate, 8, &options);
  const double large_us = onesided_measure(&o, accumulate, LARGEST, &options);
  if (o.rank == 0) {
    bench_emit("fetch_and_op", 8, fetch_us, "us");
    bench_emit("compare_and_swap", 8, swap_us, "us");
    bench_emit("accumulate", 8, add_us, "us");
    bench_emit("accumulate", LARGEST, large_us, "us");
  }
  MPI_Bcast(&counted, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  int64_t all;
  memcpy(&all, o.memory, sizeof all);
  if (o.rank == 1 && all != counted) bench_die("operations were lost");
  onesided_end(&o);
  return 0;
}
