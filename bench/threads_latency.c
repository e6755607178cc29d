// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Each thread has a ping-pong, all at once: half a round trip of the slowest thread is printed.
//   threads_latency [--quick] [--threads=1,2,4,8] [--mode=tag,comm,same,any] [BYTES...]    with 2 ranks
//   threads_latency [--quick] --level=single|funneled|serialized|multiple [BYTES...]
// The second form is one thread and shows what a level of thread support costs it.
#include "threads.h"

static void ping_pong(struct member* me, int iterations, bool checked) {
  const struct team* team = me->team;
  const int bytes = (int)team->size;
  for (int n = 0; n < iterations; ++n) {
    if (checked) {
      bench_fill(me->out, team->size, threads_seed(team, me->index, n));
      memset(me->in, 0xff, team->size);
    }
    if (team->rank == 0) MPI_Send(me->out, bytes, MPI_BYTE, me->peer, me->tag, me->comm);
    MPI_Recv(me->in, bytes, MPI_BYTE, me->source, me->tag, me->comm, MPI_STATUS_IGNORE);
    if (team->rank == 1) MPI_Send(me->out, bytes, MPI_BYTE, me->peer, me->tag, me->comm);
    if (checked) threads_verify(me, n, 1);
  }
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {8};
  static struct team team;
  const struct threads_options options =
      threads_parse(argc, argv, "tag,comm,same,any", sizes, sizeof sizes / sizeof *sizes);
  const cpu_set_t allowed = threads_allowed();
  const bool one = options.level >= 0;
  threads_init(&argc, &argv, &options, 2);
  for (int c = 0; c < (one ? 1 : options.count_count); ++c) {
    threads_start(&team, &options, &allowed, one ? 1 : options.counts[c]);
    if (team.ranks != 2) bench_die("2 ranks");
    threads_buffers(&team, threads_largest(&options), threads_largest(&options), 1);
    for (int m = 0; m < (one ? MODE_TAG + 1 : MODE_COUNT); ++m) {
      for (int i = 0; (one || options.modes[m]) && i < options.bench.size_count; ++i) {
        threads_route(&team, (enum threads_mode)m);
        const double us = threads_measure(&team, ping_pong, options.bench.sizes[i], 1);
        const char* name = one ? threads_level_names[options.level] : threads_mode_names[m];
        threads_emit(&team, "threads_latency", name, us / 2, "us");
      }
    }
    threads_end(&team);
  }
  MPI_Finalize();
  return 0;
}
