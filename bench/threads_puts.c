// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Puts of threads: each thread of rank 0 puts 64 times to places of its own at rank 1 and flushes, all threads
// together. Rank 1 waits inside MPI. Either one window for all threads (tag), or a window for each (comm).
//   threads_puts [--quick] [--threads=1,2,4,8] [--mode=tag,comm] [BYTES...]    with 2 ranks
#include "threads.h"

enum { COUNT = 64 };

static MPI_Win windows[THREADS_MAX];
static size_t room;  // of one thread in a window

static void put_and_flush(struct member* me, int iterations, bool checked) {
  const struct team* team = me->team;
  const int bytes = (int)team->size;
  const MPI_Win window = windows[team->mode == MODE_COMM ? me->index : 0];
  const MPI_Aint first = team->mode == MODE_COMM ? 0 : (MPI_Aint)(room * (size_t)me->index);
  if (team->rank != 0) return;
  for (int n = 0; n < iterations; ++n) {
    if (checked) bench_fill(me->out, team->size * COUNT, threads_seed(team, me->index, n));
    for (int i = 0; i < COUNT; ++i) {
      MPI_Put(me->out + (size_t)i * team->size, bytes, MPI_BYTE, 1, first + (MPI_Aint)i * bytes, bytes, MPI_BYTE,
              window);
    }
    MPI_Win_flush(1, window);
    if (checked) {
      memset(me->in, 0xff, team->size * COUNT);
      MPI_Get(me->in, bytes * COUNT, MPI_BYTE, 1, first, bytes * COUNT, MPI_BYTE, window);
      MPI_Win_flush(1, window);
      bench_check(me->in, team->size * COUNT, threads_seed(team, me->index, n));
    }
  }
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {8, 512};
  static struct team team;
  const struct threads_options options = threads_parse(argc, argv, "tag,comm", sizes, sizeof sizes / sizeof *sizes);
  const cpu_set_t allowed = threads_allowed();
  threads_init(&argc, &argv, &options, 2);
  room = threads_largest(&options) * COUNT;
  for (int c = 0; c < options.count_count; ++c) {
    threads_start(&team, &options, &allowed, options.counts[c]);
    if (team.ranks != 2) bench_die("2 ranks");
    threads_buffers(&team, room, room, 1);
    for (int m = 0; m < MODE_COUNT; ++m) {
      if (!options.modes[m]) continue;
      threads_route(&team, (enum threads_mode)m);
      const int count = m == MODE_COMM ? team.threads : 1;
      for (int w = 0; w < count; ++w) {
        void* memory;
        MPI_Win_allocate((MPI_Aint)(room * (size_t)(m == MODE_COMM ? 1 : team.threads)), 1, MPI_INFO_NULL,
                         team.comms[w], &memory, &windows[w]);
        MPI_Win_lock_all(MPI_MODE_NOCHECK, windows[w]);
      }
      for (int i = 0; i < options.bench.size_count; ++i) {
        const double us = threads_measure(&team, put_and_flush, options.bench.sizes[i], 0);
        threads_emit(&team, "threads_puts", threads_mode_names[m], (double)COUNT * team.threads / us, "M/s");
      }
      for (int w = 0; w < count; ++w) {
        MPI_Win_unlock_all(windows[w]);
        MPI_Win_free(&windows[w]);
      }
    }
    threads_end(&team);
  }
  MPI_Finalize();
  return 0;
}
