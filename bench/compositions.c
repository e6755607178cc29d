// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Blocking collective operations as a user would compose them of point-to-point calls; guidelines.py compares the
// library's own with them. Data and checks are those of collectives.c, by collective.h.
//   linear          all data between the root, or each rank, and all others at once
//   binomial        a tree of messages that doubles or halves the ranks in each step
//   ring, chain     between neighbours
//   pairwise        another partner in each step
//   doubling, halving, dissemination   partners at twice, or half, the distance in each step
// The user's own loops add. They become vector code (-O3), as a user would have it.
#include "collective.h"

static double* room;           // twice the largest buffer
static MPI_Request* requests;  // two for each rank

enum { TAG = 1 };

// ---- what a user would write once

static double* block(double* blocks, int b, int n) {
  return blocks + (size_t)b * (size_t)n;
}
static void copy(double* to, const double* from, int n) {
  memcpy(to, from, (size_t)n * sizeof *to);
}
static void add(double* restrict to, const double* restrict from, int n) {
  for (int i = 0; i < n; ++i) to[i] += from[i];
}
static void sum(double* restrict to, const double* restrict a, const double* restrict b, int n) {
  for (int i = 0; i < n; ++i) to[i] = a[i] + b[i];
}
static int least(int a, int b) {
  return a < b ? a : b;
}
static void give(const double* from, int n, int to) {
  MPI_Send(from, n, MPI_DOUBLE, to, TAG, MPI_COMM_WORLD);
}
static void take(double* to, int n, int from) {
  MPI_Recv(to, n, MPI_DOUBLE, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void exchange(const double* given, int given_n, int to, double* taken, int taken_n, int from) {
  MPI_Sendrecv(given, given_n, MPI_DOUBLE, to, TAG, taken, taken_n, MPI_DOUBLE, from, TAG, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}
static int start_give(int started, const double* from, int n, int to) {
  MPI_Isend(from, n, MPI_DOUBLE, to, TAG, MPI_COMM_WORLD, &requests[started]);
  return started + 1;
}
static int start_take(int started, double* to, int n, int from) {
  MPI_Irecv(to, n, MPI_DOUBLE, from, TAG, MPI_COMM_WORLD, &requests[started]);
  return started + 1;
}
static void finish(int started) {
  MPI_Waitall(started, requests, MPI_STATUSES_IGNORE);
}

// ---- barrier

static void barrier_linear(int n) {
  (void)n;
  for (int r = 1; rank == 0 && r < ranks; ++r) take(NULL, 0, r);
  for (int r = 1; rank == 0 && r < ranks; ++r) give(NULL, 0, r);
  if (rank > 0) {
    give(NULL, 0, 0);
    take(NULL, 0, 0);
  }
}
static void barrier_dissemination(int n) {
  (void)n;
  for (int step = 1; step < ranks; step *= 2) {
    exchange(NULL, 0, (rank + step) % ranks, NULL, 0, (rank - step + ranks) % ranks);
  }
}

// ---- bcast, of out

static void bcast_linear(int n) {
  if (rank > 0) {
    take(out, n, 0);
    return;
  }
  int started = 0;
  for (int r = 1; r < ranks; ++r) started = start_give(started, out, n, r);
  finish(started);
}
static void bcast_binomial(int n) {
  int step = 1;
  while (step < ranks && !(rank & step)) step *= 2;
  if (rank > 0) take(out, n, rank - step);
  for (step /= 2; step > 0; step /= 2) {
    if (rank + step < ranks) give(out, n, rank + step);
  }
}
// In segments of 64 KiB, of which one is on its way to the next rank while another comes.
static void bcast_chain(int n) {
  enum { SEGMENT = 8192 };
  MPI_Request sent = MPI_REQUEST_NULL;
  for (int at = 0; at < n; at += SEGMENT) {
    const int part = least(SEGMENT, n - at);
    if (rank > 0) take(out + at, part, rank - 1);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    if (rank + 1 < ranks) MPI_Isend(out + at, part, MPI_DOUBLE, rank + 1, TAG, MPI_COMM_WORLD, &sent);
  }
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

// ---- gather and scatter

static void gather_linear(int n) {
  if (rank > 0) {
    give(in, n, 0);
    return;
  }
  int started = 0;
  for (int r = 1; r < ranks; ++r) started = start_take(started, block(out, r, n), n, r);
  copy(out, in, n);
  finish(started);
}
static void gather_binomial(int n) {
  if (rank & 1) {
    give(in, n, rank - 1);
    return;
  }
  double* all = rank == 0 ? out : room;
  copy(all, in, n);
  int step = 1;
  for (; step < ranks && !(rank & step); step *= 2) {
    if (rank + step < ranks) take(block(all, step, n), least(step, ranks - rank - step) * n, rank + step);
  }
  if (rank > 0) give(all, least(step, ranks - rank) * n, rank - step);
}
static void scatter_linear(int n) {
  if (rank > 0) {
    take(out, n, 0);
    return;
  }
  int started = 0;
  for (int r = 1; r < ranks; ++r) started = start_give(started, block(in, r, n), n, r);
  copy(out, in, n);
  finish(started);
}
static void scatter_binomial(int n) {
  if (rank & 1) {
    take(out, n, rank - 1);
    return;
  }
  double* all = rank == 0 ? in : room;
  int step = 1;
  while (step < ranks && !(rank & step)) step *= 2;
  if (rank > 0) take(all, least(step, ranks - rank) * n, rank - step);
  for (step /= 2; step > 0; step /= 2) {
    if (rank + step < ranks) give(block(all, step, n), least(step, ranks - rank - step) * n, rank + step);
  }
  copy(out, all, n);
}

// ---- allgather and alltoall

static void allgather_linear(int n) {
  int started = 0;
  for (int s = 1; s < ranks; ++s)
    started = start_take(started, block(out, (rank + s) % ranks, n), n, (rank + s) % ranks);
  for (int s = 1; s < ranks; ++s) started = start_give(started, in, n, (rank - s + ranks) % ranks);
  copy(block(out, rank, n), in, n);
  finish(started);
}
static void allgather_ring(int n) {
  const int next = (rank + 1) % ranks, before = (rank - 1 + ranks) % ranks;
  copy(block(out, rank, n), in, n);
  for (int s = 0; s + 1 < ranks; ++s) {
    exchange(block(out, (rank - s + ranks) % ranks, n), n, next, block(out, (before - s + ranks) % ranks, n), n,
             before);
  }
}
static void allgather_doubling(int n) {
  copy(block(out, rank, n), in, n);
  for (int step = 1; step < ranks; step *= 2) {
    const int peer = rank ^ step, mine = rank & -step, theirs = peer & -step;
    exchange(block(out, mine, n), step * n, peer, block(out, theirs, n), step * n, peer);
  }
}
static void alltoall_linear(int n) {
  int started = 0;
  for (int s = 1; s < ranks; ++s)
    started = start_take(started, block(out, (rank + s) % ranks, n), n, (rank + s) % ranks);
  for (int s = 1; s < ranks; ++s) {
    const int to = (rank - s + ranks) % ranks;
    started = start_give(started, block(in, to, n), n, to);
  }
  copy(block(out, rank, n), block(in, rank, n), n);
  finish(started);
}
static void alltoall_pairwise(int n) {
  copy(block(out, rank, n), block(in, rank, n), n);
  for (int s = 1; s < ranks; ++s) {
    const int to = (rank + s) % ranks, from = (rank - s + ranks) % ranks;
    exchange(block(in, to, n), n, to, block(out, from, n), n, from);
  }
}

// ---- reduce and allreduce

static void reduce_linear(int n) {
  if (rank > 0) {
    give(in, n, 0);
    return;
  }
  take(out, n, 1);
  add(out, in, n);
  for (int r = 2; r < ranks; ++r) {
    take(room, n, r);
    add(out, room, n);
  }
}
static void reduce_binomial(int n) {
  const double* mine = in;
  double *total = rank == 0 ? out : room, *other = block(room, 1, n);
  int step = 1;
  for (; step < ranks && !(rank & step); step *= 2) {
    if (rank + step >= ranks) continue;
    take(other, n, rank + step);
    if (mine == in) {
      sum(total, in, other, n);
    } else {
      add(total, other, n);
    }
    mine = total;
  }
  if (rank > 0) give(mine, n, rank - step);
}
static void allreduce_binomial(int n) {
  reduce_binomial(n);
  bcast_binomial(n);
}
static void allreduce_doubling(int n) {
  exchange(in, n, rank ^ 1, room, n, rank ^ 1);
  sum(out, in, room, n);
  for (int step = 2; step < ranks; step *= 2) {
    exchange(out, n, rank ^ step, room, n, rank ^ step);
    add(out, room, n);
  }
}

// Parts of an array of n elements, one for each rank; some are empty where n is small.
static int part_begin(int part, int n) {
  return (int)((long long)n * part / ranks);
}
static int part_length(int part, int n) {
  return part_begin(part + 1, n) - part_begin(part, n);
}
// Parts go round once to be added, and once more as results.
static void allreduce_ring(int n) {
  const int next = (rank + 1) % ranks, before = (rank - 1 + ranks) % ranks;
  for (int s = 0; s + 1 < ranks; ++s) {
    const int given = (rank - s + ranks) % ranks, taken = (before - s + ranks) % ranks;
    const int at = part_begin(taken, n), length = part_length(taken, n);
    exchange((s == 0 ? in : out) + part_begin(given, n), part_length(given, n), next, room, length, before);
    sum(out + at, in + at, room, length);
  }
  for (int s = 0; s + 1 < ranks; ++s) {
    const int given = (rank + 1 - s + ranks) % ranks, taken = (rank - s + ranks) % ranks;
    exchange(out + part_begin(given, n), part_length(given, n), next, out + part_begin(taken, n), part_length(taken, n),
             before);
  }
}

// ---- reduce_scatter_block

static void reduce_scatter_block_linear(int n) {
  int started = 0;
  for (int s = 1; s < ranks; ++s) started = start_take(started, block(room, s, n), n, (rank + s) % ranks);
  for (int s = 1; s < ranks; ++s) {
    const int to = (rank - s + ranks) % ranks;
    started = start_give(started, block(in, to, n), n, to);
  }
  finish(started);
  sum(out, block(in, rank, n), block(room, 1, n), n);
  for (int s = 2; s < ranks; ++s) add(out, block(room, s, n), n);
}
static void reduce_scatter_block_pairwise(int n) {
  for (int s = 1; s < ranks; ++s) {
    const int to = (rank + s) % ranks, from = (rank - s + ranks) % ranks;
    exchange(block(in, to, n), n, to, room, n, from);
    if (s == 1) {
      sum(out, block(in, rank, n), room, n);
    } else {
      add(out, room, n);
    }
  }
}
// The blocks that a rank still adds are those from `rank & -(2 * half)` on. Received data lie behind them in `room`.
static void reduce_scatter_block_halving(int n) {
  double *from = in, *came = block(room, ranks, n);
  for (int half = ranks / 2; half > 0; half /= 2) {
    const int peer = rank ^ half, kept = rank & -half, given = peer & -half;
    exchange(block(from, given, n), half * n, peer, came, half * n, peer);
    if (from == in || half == 1) {
      sum(half == 1 ? out : block(room, kept, n), block(from, kept, n), came, half * n);
    } else {
      add(block(room, kept, n), came, half * n);
    }
    from = room;
  }
}

// ---- scan

static void scan_linear(int n) {
  if (rank == 0) {
    copy(out, in, n);
  } else {
    take(room, n, rank - 1);
    sum(out, in, room, n);
  }
  if (rank + 1 < ranks) give(out, n, rank + 1);
}
static void scan_doubling(int n) {
  const double* mine = in;
  for (int step = 1; step < ranks; step *= 2) {
    const int up = rank + step < ranks ? rank + step : MPI_PROC_NULL, down = rank >= step ? rank - step : MPI_PROC_NULL;
    exchange(mine, n, up, room, n, down);
    if (down == MPI_PROC_NULL) continue;
    if (mine == in) {
      sum(out, in, room, n);
    } else {
      add(out, room, n);
    }
    mine = out;
  }
  if (mine == in) copy(out, in, n);
}

// The name of a row ends with that of the composition, one word.
static const struct row rows[] = {
    {"user_barrier_linear", barrier_linear, NULL, 1, 1, NO_DATA, NOTHING, ANY_NUMBER},
    {"user_barrier_dissemination", barrier_dissemination, NULL, 1, 1, NO_DATA, NOTHING, ANY_NUMBER},
    {"user_bcast_linear", bcast_linear, from_root, 1, 1, ROOT_OUT, EVERYWHERE, ANY_NUMBER},
    {"user_bcast_binomial", bcast_binomial, from_root, 1, 1, ROOT_OUT, EVERYWHERE, ANY_NUMBER},
    {"user_bcast_chain", bcast_chain, from_root, 1, 1, ROOT_OUT, EVERYWHERE, ANY_NUMBER},
    {"user_gather_linear", gather_linear, of_all, 1, 0, ALL_IN, AT_ROOT, ANY_NUMBER},
    {"user_gather_binomial", gather_binomial, of_all, 1, 0, ALL_IN, AT_ROOT, ANY_NUMBER},
    {"user_scatter_linear", scatter_linear, my_part_of_root, 0, 1, ROOT_IN, EVERYWHERE, ANY_NUMBER},
    {"user_scatter_binomial", scatter_binomial, my_part_of_root, 0, 1, ROOT_IN, EVERYWHERE, ANY_NUMBER},
    {"user_allgather_linear", allgather_linear, of_all, 1, 0, ALL_IN, EVERYWHERE, ANY_NUMBER},
    {"user_allgather_ring", allgather_ring, of_all, 1, 0, ALL_IN, EVERYWHERE, ANY_NUMBER},
    {"user_allgather_doubling", allgather_doubling, of_all, 1, 0, ALL_IN, EVERYWHERE, POWER_OF_TWO},
    {"user_alltoall_linear", alltoall_linear, my_part_of_all, 0, 0, ALL_IN, EVERYWHERE, ANY_NUMBER},
    {"user_alltoall_pairwise", alltoall_pairwise, my_part_of_all, 0, 0, ALL_IN, EVERYWHERE, ANY_NUMBER},
    {"user_reduce_linear", reduce_linear, sum_of_all, 1, 1, ALL_IN, AT_ROOT, ANY_NUMBER},
    {"user_reduce_binomial", reduce_binomial, sum_of_all, 1, 1, ALL_IN, AT_ROOT, ANY_NUMBER},
    {"user_allreduce_binomial", allreduce_binomial, sum_of_all, 1, 1, ALL_IN, EVERYWHERE, ANY_NUMBER},
    {"user_allreduce_doubling", allreduce_doubling, sum_of_all, 1, 1, ALL_IN, EVERYWHERE, POWER_OF_TWO},
    {"user_allreduce_ring", allreduce_ring, sum_of_all, 1, 1, ALL_IN, EVERYWHERE, ANY_NUMBER},
    {"user_reduce_scatter_block_linear", reduce_scatter_block_linear, my_part_of_sum, 0, 1, ALL_IN, EVERYWHERE,
     ANY_NUMBER},
    {"user_reduce_scatter_block_pairwise", reduce_scatter_block_pairwise, my_part_of_sum, 0, 1, ALL_IN, EVERYWHERE,
     ANY_NUMBER},
    {"user_reduce_scatter_block_halving", reduce_scatter_block_halving, my_part_of_sum, 0, 1, ALL_IN, EVERYWHERE,
     POWER_OF_TWO},
    {"user_scan_linear", scan_linear, sum_to_me, 1, 1, ALL_IN, EVERYWHERE, ANY_NUMBER},
    {"user_scan_doubling", scan_doubling, sum_to_me, 1, 1, ALL_IN, EVERYWHERE, ANY_NUMBER},
};
enum { ROWS = sizeof rows / sizeof *rows };

int main(int argc, char** argv) {
  static const size_t sizes[] = {8, 1 << 10, 8 << 10, 64 << 10, 1 << 20, 4 << 20};
  const struct bench_options options = collective_start(argc, argv, sizes, sizeof sizes / sizeof *sizes);
  if (!place_is_host()) bench_die("the processor adds what comes: no -d");
  room = (double*)bench_buffer(2 * collective_bytes(rows, ROWS, &options) + 1);
  requests = calloc(2 * (size_t)ranks, sizeof(MPI_Request));
  if (requests == NULL) bench_die("out of memory");
  collective_run(rows, ROWS, &options);
  free(room);
  free(requests);
  MPI_Finalize();
  return 0;
}
