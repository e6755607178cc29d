// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Gets of threads: 64 of each and a flush.
//   threads_gets [--quick] [--threads=1,2,4,8] [--mode=tag,comm] [BYTES...]    with 2 ranks
#include "threads_window.h"

static void get_and_flush(struct member* me, int iterations, bool checked) {
  const struct team* team = me->team;
  const int bytes = (int)team->size;
  const struct threads_place at = threads_place_of(me);
  if (team->rank != 0) return;
  for (int n = 0; n < iterations; ++n) {
    if (checked) {
      bench_fill(me->out, team->size * COUNT, threads_seed(team, me->index, n));
      MPI_Put(me->out, bytes * COUNT, MPI_BYTE, 1, at.first, bytes * COUNT, MPI_BYTE, at.window);
      MPI_Win_flush(1, at.window);
      memset(me->in, 0xff, team->size * COUNT);
    }
    for (int i = 0; i < COUNT; ++i) {
      MPI_Get(me->in + (size_t)i * team->size, bytes, MPI_BYTE, 1, at.first + (MPI_Aint)i * bytes, bytes, MPI_BYTE,
              at.window);
    }
    MPI_Win_flush(1, at.window);
    if (checked) bench_check(me->in, team->size * COUNT, threads_seed(team, me->index, n));
  }
}

int main(int argc, char** argv) {
  return threads_operations(argc, argv, "threads_gets", get_and_flush);
}
