// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Blocking collective operations of all ranks: time of one call until the last rank has it. Size: bytes of a rank's
// data; of each block where ranks have several. Doubles; the v forms have blocks of one size.
#include <mpi.h>

#include "place.h"

static int rank, ranks;
static double *in, *out;  // `ranks` blocks each
static int *counts, *starts;

static void set_counts(int n) {
  for (int r = 0; r < ranks; ++r) {
    counts[r] = n;
    starts[r] = r * n;
  }
}

// ---- one call each, of blocks of n elements

static void barrier(int n) {
  (void)n;
  MPI_Barrier(MPI_COMM_WORLD);
}
static void bcast(int n) {
  MPI_Bcast(out, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
static void gather(int n) {
  MPI_Gather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
static void gatherv(int n) {
  MPI_Gatherv(in, n, MPI_DOUBLE, out, counts, starts, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
static void scatter(int n) {
  MPI_Scatter(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
static void scatterv(int n) {
  MPI_Scatterv(in, counts, starts, MPI_DOUBLE, out, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
static void allgather(int n) {
  MPI_Allgather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, MPI_COMM_WORLD);
}
static void allgatherv(int n) {
  MPI_Allgatherv(in, n, MPI_DOUBLE, out, counts, starts, MPI_DOUBLE, MPI_COMM_WORLD);
}
static void alltoall(int n) {
  MPI_Alltoall(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, MPI_COMM_WORLD);
}
static void alltoallv(int n) {
  (void)n;
  MPI_Alltoallv(in, counts, starts, MPI_DOUBLE, out, counts, starts, MPI_DOUBLE, MPI_COMM_WORLD);
}
static void reduce(int n) {
  MPI_Reduce(in, out, n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}
static void allreduce(int n) {
  MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void reduce_scatter(int n) {
  (void)n;
  MPI_Reduce_scatter(in, out, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void reduce_scatter_block(int n) {
  MPI_Reduce_scatter_block(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void scan(int n) {
  MPI_Scan(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void exscan(int n) {
  MPI_Exscan(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

// ---- the results. Element i of block b at rank r is 1000 r + 10 b + i % 7.

static double element(int r, int b, int i) {
  return 1000. * r + 10. * b + i % 7;
}
static double sum_below(int end, int b, int i) {
  return 1000. * end * (end - 1) / 2 + end * (10. * b + i % 7);
}

static double from_root(int b, int i) {
  return element(0, b, i);
}
static double of_all(int b, int i) {
  return element(b, 0, i);
}
static double my_part_of_root(int b, int i) {
  (void)b;
  return element(0, rank, i);
}
static double my_part_of_all(int b, int i) {
  return element(b, rank, i);
}
static double my_part_of_sum(int b, int i) {
  (void)b;
  return sum_below(ranks, rank, i);
}
static double sum(int b, int i) {
  return sum_below(ranks, b, i);
}
static double sum_to_me(int b, int i) {
  return sum_below(rank + 1, b, i);
}
static double sum_before_me(int b, int i) {
  return sum_below(rank, b, i);
}

enum result { NOTHING, AT_ROOT, EVERYWHERE, BEHIND_FIRST };
static const struct row {
  const char* name;
  void (*call)(int n);
  double (*expected)(int b, int i);
  int blocks;  // of the result; 0: as many as ranks
  enum result where;
} rows[] = {
    {"coll_barrier", barrier, NULL, 1, NOTHING},
    {"coll_bcast", bcast, from_root, 1, EVERYWHERE},
    {"coll_gather", gather, of_all, 0, AT_ROOT},
    {"coll_gatherv", gatherv, of_all, 0, AT_ROOT},
    {"coll_scatter", scatter, my_part_of_root, 1, EVERYWHERE},
    {"coll_scatterv", scatterv, my_part_of_root, 1, EVERYWHERE},
    {"coll_allgather", allgather, of_all, 0, EVERYWHERE},
    {"coll_allgatherv", allgatherv, of_all, 0, EVERYWHERE},
    {"coll_alltoall", alltoall, my_part_of_all, 0, EVERYWHERE},
    {"coll_alltoallv", alltoallv, my_part_of_all, 0, EVERYWHERE},
    {"coll_reduce", reduce, sum, 1, AT_ROOT},
    {"coll_allreduce", allreduce, sum, 1, EVERYWHERE},
    {"coll_reduce_scatter", reduce_scatter, my_part_of_sum, 1, EVERYWHERE},
    {"coll_reduce_scatter_block", reduce_scatter_block, my_part_of_sum, 1, EVERYWHERE},
    {"coll_scan", scan, sum_to_me, 1, EVERYWHERE},
    {"coll_exscan", exscan, sum_before_me, 1, BEHIND_FIRST},
};
enum { ROWS = sizeof rows / sizeof *rows };

static void check(const struct row* row, int n) {
  if (row->where == NOTHING || (row->where == AT_ROOT && rank != 0) || (row->where == BEHIND_FIRST && rank == 0))
    return;
  const int blocks = row->blocks > 0 ? row->blocks : ranks;
  const double* result = place_read(out, (size_t)blocks * (size_t)n * sizeof *result);
  for (int b = 0; b < blocks; ++b) {
    for (int i = 0; i < n; ++i) {
      if (result[(size_t)b * (size_t)n + (size_t)i] != row->expected(b, i)) bench_die(row->name);
    }
  }
}

// Of the rank that took the longest.
static double calls(const struct row* row, int n, int iterations) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = bench_now_us();
  for (int i = 0; i < iterations; ++i) row->call(n);
  double took = bench_now_us() - start;
  for (int r = 1; r < ranks; ++r) {
    double other = took;
    if (rank == r) MPI_Send(&took, 1, MPI_DOUBLE, 0, 98, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(&other, 1, MPI_DOUBLE, r, 98, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    took = other > took ? other : took;
  }
  return took;
}

static void measure(const struct row* row, size_t size, const struct bench_options* options) {
  const int n = (int)(size / sizeof(double));
  set_counts(n);
  const size_t all = (size_t)ranks * size;
  double* room = place_room(out, all);
  memset(room, 0, all);
  if (rank == 0 && row->call == bcast) {
    for (int i = 0; i < n; ++i) room[i] = element(rank, 0, i);
  }
  place_write(out, all);
  room = place_room(in, all);
  for (int b = 0; b < ranks; ++b) {
    for (int i = 0; i < n; ++i) room[(size_t)b * (size_t)n + (size_t)i] = element(rank, b, i);
  }
  place_write(in, all);
  row->call(n);
  check(row, n);
  enum { TRIES = 4 };
  calls(row, n, TRIES);
  const int iterations = bench_agree(bench_iterations(options, calls(row, n, TRIES), TRIES));
  double blocks[BENCH_BLOCKS];
  for (int b = 0; b < BENCH_BLOCKS; ++b) blocks[b] = calls(row, n, iterations) / iterations;
  if (rank == 0) bench_emit(row->name, size, bench_median(blocks, BENCH_BLOCKS), "us");
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {8, 1024, 65536, 1 << 20};
  const struct bench_options options = place_parse(argc, argv, sizes, sizeof sizes / sizeof *sizes);
  MPI_Init(&argc, &argv);
  rank = bench_rank_of(2);
  place_start(rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  size_t largest = 0;
  for (int s = 0; s < options.size_count; ++s) largest = options.sizes[s] > largest ? options.sizes[s] : largest;
  in = (double*)place_buffer((size_t)ranks * largest);
  out = (double*)place_buffer((size_t)ranks * largest);
  counts = calloc((size_t)ranks, sizeof *counts);
  starts = calloc((size_t)ranks, sizeof *starts);
  if (counts == NULL || starts == NULL) bench_die("out of memory");
  for (int r = 0; r < ROWS; ++r) {
    for (int s = 0; s < options.size_count && (s == 0 || rows[r].where != NOTHING); ++s) {
      measure(&rows[r], options.sizes[s], &options);
    }
  }
  place_free(in);
  place_free(out);
  free(counts);
  free(starts);
  MPI_Finalize();
  return 0;
}
