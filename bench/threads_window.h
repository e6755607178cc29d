// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// One-sided operations of threads: each thread of rank 0 issues some and flushes, on places of its own at rank 1, all
// threads together. Rank 1 waits inside MPI. Either one window for all threads (tag), or a window for each (comm).
#ifndef WEFT_BENCH_THREADS_WINDOW_H
#define WEFT_BENCH_THREADS_WINDOW_H

#include "threads.h"

enum { COUNT = 64 };  // operations before a flush

static MPI_Win threads_win[THREADS_MAX];
static size_t threads_room;  // of one thread in a window

struct threads_place {
  MPI_Win window;
  MPI_Aint first;
};

static inline struct threads_place threads_place_of(const struct member* me) {
  const bool apart = me->team->mode == MODE_COMM;
  return (struct threads_place){threads_win[apart ? me->index : 0],
                                apart ? 0 : (MPI_Aint)(threads_room * (size_t)me->index)};
}

// The whole of threads_puts and threads_gets.
static inline int threads_operations(int argc, char** argv, const char* program, threads_body body) {
  static const size_t sizes[] = {8, 512};
  static struct team team;
  const struct threads_options options = threads_parse(argc, argv, "tag,comm", sizes, sizeof sizes / sizeof *sizes);
  const cpu_set_t allowed = threads_allowed();
  threads_init(&argc, &argv, &options, 2);
  threads_room = threads_largest(&options) * COUNT;
  for (int c = 0; c < options.count_count; ++c) {
    threads_start(&team, &options, &allowed, options.counts[c]);
    if (team.ranks != 2) bench_die("2 ranks");
    threads_buffers(&team, threads_room, threads_room, 1);
    for (int m = 0; m < MODE_COUNT; ++m) {
      if (!options.modes[m]) continue;
      threads_route(&team, (enum threads_mode)m);
      const int count = m == MODE_COMM ? team.threads : 1;
      for (int w = 0; w < count; ++w) {
        void* memory;
        MPI_Win_allocate((MPI_Aint)(threads_room * (size_t)(m == MODE_COMM ? 1 : team.threads)), 1, MPI_INFO_NULL,
                         team.comms[w], &memory, &threads_win[w]);
        MPI_Win_lock_all(MPI_MODE_NOCHECK, threads_win[w]);
      }
      for (int i = 0; i < options.bench.size_count; ++i) {
        const double us = threads_measure(&team, body, options.bench.sizes[i], 0);
        threads_emit(&team, program, threads_mode_names[m], (double)COUNT * team.threads / us, "M/s");
      }
      for (int w = 0; w < count; ++w) {
        MPI_Win_unlock_all(threads_win[w]);
        MPI_Win_free(&threads_win[w]);
      }
    }
    threads_end(&team);
  }
  MPI_Finalize();
  return 0;
}

#endif
