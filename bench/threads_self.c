// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Messages to oneself: each thread sends to its own rank, with its own tag (or on its own communicator), in windows of
// 32. The gain of two threads over one is the library's concurrency: no other process is waited for.
//   threads_self [--quick] [--threads=1,2,4,8] [--mode=tag,comm] [BYTES...]    with 1 rank
#include "threads.h"

enum { COUNT = 32 };

static void to_myself(struct member* me, int iterations, bool checked) {
  const struct team* team = me->team;
  const int bytes = (int)team->size;
  for (int n = 0; n < iterations; ++n) {
    if (checked) {
      bench_fill(me->out, team->size, threads_seed(team, me->index, n));
      memset(me->in, 0xff, team->size * COUNT);
    }
    for (int i = 0; i < COUNT; ++i) {
      MPI_Irecv(me->in + (size_t)i * team->size, bytes, MPI_BYTE, team->rank, me->tag, me->comm, &me->requests[i]);
    }
    for (int i = 0; i < COUNT; ++i) {
      MPI_Isend(me->out, bytes, MPI_BYTE, team->rank, me->tag, me->comm, &me->requests[COUNT + i]);
    }
    MPI_Waitall(2 * COUNT, me->requests, MPI_STATUSES_IGNORE);
    if (checked) threads_verify(me, n, COUNT);
  }
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {8};
  static struct team team;
  const struct threads_options options = threads_parse(argc, argv, "tag,comm", sizes, sizeof sizes / sizeof *sizes);
  const cpu_set_t allowed = threads_allowed();
  threads_init(&argc, &argv, &options, 1);
  for (int c = 0; c < options.count_count; ++c) {
    threads_start(&team, &options, &allowed, options.counts[c]);
    threads_buffers(&team, threads_largest(&options), threads_largest(&options) * COUNT, 2 * COUNT);
    for (int m = 0; m < MODE_COUNT; ++m) {
      for (int i = 0; options.modes[m] && i < options.bench.size_count; ++i) {
        threads_route(&team, (enum threads_mode)m);
        const double us = threads_measure(&team, to_myself, options.bench.sizes[i], COUNT);
        const double messages = (double)COUNT * team.threads * team.ranks;
        threads_emit(&team, "threads_self", threads_mode_names[m], messages / us, "M/s");
      }
    }
    threads_end(&team);
  }
  MPI_Finalize();
  return 0;
}
