// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI_Alltoall of every thread on a communicator of its own, all at once: time of one call. Size: bytes for each rank.
//   threads_alltoall [--quick] [--threads=1,2,4,8] [BYTES...]    with any number of ranks
#include "threads.h"

static unsigned seed(const struct member* me, int number, int from, int to) {
  return threads_seed(me->team, me->index, number) + (unsigned)(from * 11 + to * 13);
}

static void alltoall(struct member* me, int iterations, bool checked) {
  const struct team* team = me->team;
  const int bytes = (int)team->size;
  for (int n = 0; n < iterations; ++n) {
    for (int r = 0; checked && r < team->ranks; ++r) {
      bench_fill(me->out + (size_t)r * team->size, team->size, seed(me, n, team->rank, r));
      memset(me->in + (size_t)r * team->size, 0xff, team->size);
    }
    MPI_Alltoall(me->out, bytes, MPI_BYTE, me->in, bytes, MPI_BYTE, me->comm);
    for (int r = 0; checked && r < team->ranks; ++r) {
      bench_check(me->in + (size_t)r * team->size, team->size, seed(me, n, r, team->rank));
    }
  }
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {8, 1024, 65536};
  static struct team team;
  const struct threads_options options = threads_parse(argc, argv, "comm", sizes, sizeof sizes / sizeof *sizes);
  const cpu_set_t allowed = threads_allowed();
  threads_init(&argc, &argv, &options, 2);
  for (int c = 0; c < options.count_count; ++c) {
    threads_start(&team, &options, &allowed, options.counts[c]);
    const size_t bytes = threads_largest(&options) * (size_t)team.ranks;
    threads_buffers(&team, bytes, bytes, 1);
    for (int i = 0; i < options.bench.size_count; ++i) {
      threads_route(&team, MODE_COMM);
      const double us = threads_measure(&team, alltoall, options.bench.sizes[i], 0);
      threads_emit(&team, "threads_alltoall", threads_mode_names[MODE_COMM], us, "us");
    }
    threads_end(&team);
  }
  MPI_Finalize();
  return 0;
}
