// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Blocking collective operations of all ranks (collective.h); the v forms have blocks of one size.
#include "collective.h"

static int *counts, *starts;

static void set_counts(int n) {
  if (counts[0] == n) return;
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
  set_counts(n);
  MPI_Gatherv(in, n, MPI_DOUBLE, out, counts, starts, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
static void scatter(int n) {
  MPI_Scatter(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
static void scatterv(int n) {
  set_counts(n);
  MPI_Scatterv(in, counts, starts, MPI_DOUBLE, out, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
static void allgather(int n) {
  MPI_Allgather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, MPI_COMM_WORLD);
}
static void allgatherv(int n) {
  set_counts(n);
  MPI_Allgatherv(in, n, MPI_DOUBLE, out, counts, starts, MPI_DOUBLE, MPI_COMM_WORLD);
}
static void alltoall(int n) {
  MPI_Alltoall(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, MPI_COMM_WORLD);
}
static void alltoallv(int n) {
  set_counts(n);
  MPI_Alltoallv(in, counts, starts, MPI_DOUBLE, out, counts, starts, MPI_DOUBLE, MPI_COMM_WORLD);
}
static void reduce(int n) {
  MPI_Reduce(in, out, n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}
static void allreduce(int n) {
  MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void reduce_scatter(int n) {
  set_counts(n);
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

static const struct row rows[] = {
    {"coll_barrier", barrier, NULL, 1, 1, NO_DATA, NOTHING, ANY_NUMBER},
    {"coll_bcast", bcast, from_root, 1, 1, ROOT_OUT, EVERYWHERE, ANY_NUMBER},
    {"coll_gather", gather, of_all, 1, 0, ALL_IN, AT_ROOT, ANY_NUMBER},
    {"coll_gatherv", gatherv, of_all, 1, 0, ALL_IN, AT_ROOT, ANY_NUMBER},
    {"coll_scatter", scatter, my_part_of_root, 0, 1, ROOT_IN, EVERYWHERE, ANY_NUMBER},
    {"coll_scatterv", scatterv, my_part_of_root, 0, 1, ROOT_IN, EVERYWHERE, ANY_NUMBER},
    {"coll_allgather", allgather, of_all, 1, 0, ALL_IN, EVERYWHERE, ANY_NUMBER},
    {"coll_allgatherv", allgatherv, of_all, 1, 0, ALL_IN, EVERYWHERE, ANY_NUMBER},
    {"coll_alltoall", alltoall, my_part_of_all, 0, 0, ALL_IN, EVERYWHERE, ANY_NUMBER},
    {"coll_alltoallv", alltoallv, my_part_of_all, 0, 0, ALL_IN, EVERYWHERE, ANY_NUMBER},
    {"coll_reduce", reduce, sum_of_all, 1, 1, ALL_IN, AT_ROOT, ANY_NUMBER},
    {"coll_allreduce", allreduce, sum_of_all, 1, 1, ALL_IN, EVERYWHERE, ANY_NUMBER},
    {"coll_reduce_scatter", reduce_scatter, my_part_of_sum, 0, 1, ALL_IN, EVERYWHERE, ANY_NUMBER},
    {"coll_reduce_scatter_block", reduce_scatter_block, my_part_of_sum, 0, 1, ALL_IN, EVERYWHERE, ANY_NUMBER},
    {"coll_scan", scan, sum_to_me, 1, 1, ALL_IN, EVERYWHERE, ANY_NUMBER},
    {"coll_exscan", exscan, sum_before_me, 1, 1, ALL_IN, BEHIND_FIRST, ANY_NUMBER},
};
enum { ROWS = sizeof rows / sizeof *rows };

int main(int argc, char** argv) {
  static const size_t sizes[] = {8, 1024, 65536, 1 << 20};
  const struct bench_options options = collective_start(argc, argv, sizes, sizeof sizes / sizeof *sizes);
  counts = calloc((size_t)ranks, sizeof *counts);
  starts = calloc((size_t)ranks, sizeof *starts);
  if (counts == NULL || starts == NULL) bench_die("out of memory");
  collective_run(rows, ROWS, &options);
  free(counts);
  free(starts);
  MPI_Finalize();
  return 0;
}
