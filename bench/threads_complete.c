// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Many threads issue, one completes: each thread of rank 0 starts 64 sends and each of rank 1 as many receives, with
// its own tag; thread 0 of either rank waits for all of them. Requests so go to another thread than they came from.
//   threads_complete [--quick] [--threads=1,2,4,8] [BYTES...]    with 2 ranks
#include "threads.h"

static void issue_and_complete(struct member* me, int iterations, bool checked) {
  struct team* team = me->team;
  const int bytes = (int)team->size, count = window_count(team->size);
  MPI_Request* requests = &team->shared[me->index * count];
  int answer = 0;
  for (int n = 0; n < iterations; ++n) {
    if (checked && team->rank == 0) bench_fill(me->out, team->size, threads_seed(team, me->index, n));
    if (checked && team->rank == 1) memset(me->in, 0xff, team->size * (size_t)count);
    for (int i = 0; team->rank == 0 && i < count; ++i) {
      MPI_Isend(me->out, bytes, MPI_BYTE, me->peer, me->tag, me->comm, &requests[i]);
    }
    for (int i = 0; team->rank == 1 && i < count; ++i) {
      MPI_Irecv(me->in + (size_t)i * team->size, bytes, MPI_BYTE, me->peer, me->tag, me->comm, &requests[i]);
    }
    threads_meet(&team->barrier);
    if (me->index == 0) {
      MPI_Waitall(count * team->threads, team->shared, MPI_STATUSES_IGNORE);
      if (team->rank == 0) {
        MPI_Recv(&answer, 1, MPI_INT, me->peer, me->answer_tag, me->comm, MPI_STATUS_IGNORE);
        if (answer != n) bench_die("an answer came for another window");
      }
    }
    threads_meet(&team->barrier);
    if (checked && team->rank == 1) {
      threads_verify(me, n, count);
      threads_meet(&team->barrier);
    }
    if (team->rank == 1 && me->index == 0) MPI_Send(&n, 1, MPI_INT, me->peer, me->answer_tag, me->comm);
  }
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {8};
  static struct team team;
  const struct threads_options options = threads_parse(argc, argv, "tag", sizes, sizeof sizes / sizeof *sizes);
  const cpu_set_t allowed = threads_allowed();
  threads_init(&argc, &argv, &options, 2);
  for (int c = 0; c < options.count_count; ++c) {
    threads_start(&team, &options, &allowed, options.counts[c]);
    if (team.ranks != 2) bench_die("2 ranks");
    threads_buffers(&team, threads_largest(&options), threads_places(&options), 1);
    team.shared = (MPI_Request*)bench_buffer((size_t)team.threads * WINDOW * sizeof(MPI_Request));
    for (int i = 0; i < options.bench.size_count; ++i) {
      const int window = window_count(options.bench.sizes[i]);
      threads_route(&team, MODE_TAG);
      const double us = threads_measure(&team, issue_and_complete, options.bench.sizes[i], window);
      threads_emit(&team, "threads_complete", threads_mode_names[MODE_TAG], (double)window * team.threads / us, "M/s");
    }
    free(team.shared);
    threads_end(&team);
  }
  MPI_Finalize();
  return 0;
}
