// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Operations of all ranks on blocks of doubles, for collectives.c and compositions.c: the data that each rank gives and
// must get, and the time of one call until the last rank has it. Size: bytes of a rank's data; of each block where
// ranks have several.
//   --most=BYTES   leaves out operations in which a rank gives or gets more
#ifndef WEFT_BENCH_COLLECTIVE_H
#define WEFT_BENCH_COLLECTIVE_H

#define BENCH_FRESH
#include <mpi.h>

#include "place.h"

static int rank, ranks;
static double *in, *out;  // as many blocks as the largest of the rows has
static int turn;          // of the writing with --fresh, the same in all ranks

// ---- the data. Element i of block b at rank r is 1000 r + 10 b + i % 7, and a million for each turn.

static inline double element(int r, int b, int i) {
  return 1e6 * turn + 1000. * r + 10. * b + i % 7;
}
static inline double sum_below(int end, int b, int i) {
  return 1000. * end * (end - 1) / 2 + end * element(0, b, i);
}

static inline double from_root(int b, int i) {
  return element(0, b, i);
}
static inline double of_all(int b, int i) {
  return element(b, 0, i);
}
static inline double my_part_of_root(int b, int i) {
  (void)b;
  return element(0, rank, i);
}
static inline double my_part_of_all(int b, int i) {
  return element(b, rank, i);
}
static inline double my_part_of_sum(int b, int i) {
  (void)b;
  return sum_below(ranks, rank, i);
}
static inline double sum_of_all(int b, int i) {
  return sum_below(ranks, b, i);
}
static inline double sum_to_me(int b, int i) {
  return sum_below(rank + 1, b, i);
}
static inline double sum_before_me(int b, int i) {
  return sum_below(rank, b, i);
}

// ---- the rows

enum source { NO_DATA, ROOT_OUT, ROOT_IN, ALL_IN };  // which ranks give data, and where these lie before the call
enum result { NOTHING, AT_ROOT, EVERYWHERE, BEHIND_FIRST };
enum number { ANY_NUMBER, POWER_OF_TWO };  // of ranks

struct row {
  const char* name;
  void (*call)(int n);  // of blocks of n elements
  double (*expected)(int b, int i);
  int given, got;  // blocks; 0: as many as ranks
  enum source source;
  enum result where;
  enum number number;
};

static inline size_t row_blocks(int blocks) {
  return (size_t)(blocks > 0 ? blocks : ranks);
}

// This is the size of the rank that gives or gets most.
static inline size_t row_bytes(const struct row* row, size_t size) {
  const size_t given = row_blocks(row->given), got = row_blocks(row->got);
  return (given > got ? given : got) * size;
}

static inline void row_fill(const struct row* row, int n) {
  if (row->source == NO_DATA || (row->source != ALL_IN && rank != 0)) return;
  double* buffer = row->source == ROOT_OUT ? out : in;
  const size_t blocks = row_blocks(row->given), bytes = blocks * (size_t)n * sizeof *buffer;
  double* room = place_room(buffer, bytes);
  for (size_t b = 0; b < blocks; ++b) {
    for (int i = 0; i < n; ++i) room[b * (size_t)n + (size_t)i] = element(rank, (int)b, i);
  }
  place_write(buffer, bytes);
}

static inline void row_check(const struct row* row, int n) {
  if (row->where == NOTHING || (row->where == AT_ROOT && rank != 0) || (row->where == BEHIND_FIRST && rank == 0))
    return;
  const size_t blocks = row_blocks(row->got);
  const double* result = place_read(out, blocks * (size_t)n * sizeof *result);
  for (size_t b = 0; b < blocks; ++b) {
    for (int i = 0; i < n; ++i) {
      if (result[b * (size_t)n + (size_t)i] != row->expected((int)b, i)) bench_die(row->name);
    }
  }
}

// ---- the times

// Data are written anew before each call. A barrier comes between, after which each rank takes the time of its call:
// the writing takes no part of it, nor does the clock. Ranks that share a processor leave the barrier one after the
// other, and the last of them find data that are there: so this is of use with a core for each rank.
static inline double row_calls_fresh(const struct row* row, int n, int iterations, double clock_us) {
  double took = 0;
  for (int i = 0; i < iterations; ++i) {
    turn = (turn + 1) % 8;
    row_fill(row, n);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = bench_now_us();
    row->call(n);
    took += bench_now_us() - start - clock_us;
  }
  return took;
}

static inline double row_calls(const struct row* row, int n, int iterations) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = bench_now_us();
  for (int i = 0; i < iterations; ++i) row->call(n);
  return bench_now_us() - start;
}

// The time is that of the rank that took the longest.
static inline double row_time(const struct row* row, int n, int iterations, const struct bench_options* options) {
  static double clock_us = -1;
  if (clock_us < 0) clock_us = bench_clock_us();
  double took = options->fresh ? row_calls_fresh(row, n, iterations, clock_us) : row_calls(row, n, iterations);
  for (int r = 1; r < ranks; ++r) {
    double other = took;
    if (rank == r) MPI_Send(&took, 1, MPI_DOUBLE, 0, 98, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(&other, 1, MPI_DOUBLE, r, 98, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    took = other > took ? other : took;
  }
  return took;
}

static inline void row_measure(const struct row* row, size_t size, const struct bench_options* options) {
  const int n = (int)(size / sizeof(double));
  const size_t all = row_blocks(row->got) * size;
  memset(place_room(out, all), 0, all);
  place_write(out, all);
  row_fill(row, n);
  row->call(n);
  row_check(row, n);
  enum { TRIES = 4 };
  row_time(row, n, TRIES, options);
  const int iterations = bench_agree(bench_iterations(options, row_time(row, n, TRIES, options), TRIES));
  double blocks[BENCH_BLOCKS];
  for (int b = 0; b < BENCH_BLOCKS; ++b) blocks[b] = row_time(row, n, iterations, options) / iterations;
  row_check(row, n);
  if (rank == 0) bench_emit_measure(options, row->name, size, bench_median(blocks, BENCH_BLOCKS), "us");
}

// ---- the program: collective_start, collective_run, MPI_Finalize

static size_t collective_most = SIZE_MAX;  // of --most

static inline struct bench_options collective_start(int argc, char** argv, const size_t* sizes, int count) {
  int kept = 0;
  for (int i = 0; i < argc; ++i) {
    if (strncmp(argv[i], "--most=", 7) == 0) {
      collective_most = strtoull(argv[i] + 7, NULL, 10);
    } else {
      argv[kept++] = argv[i];
    }
  }
  argv[kept] = NULL;
  const struct bench_options options = place_parse(kept, argv, sizes, count);
  MPI_Init(NULL, NULL);
  rank = bench_rank_of(2);
  place_start(rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return options;
}

static inline int row_is_run(const struct row* row, int s, const struct bench_options* options) {
  if (row->source == NO_DATA && (s > 0 || options->fresh)) return 0;
  if (row->number == POWER_OF_TWO && (ranks & (ranks - 1)) != 0) return 0;
  return row_bytes(row, options->sizes[s]) <= collective_most;
}

// The most bytes of a buffer of those rows that are run.
static inline size_t collective_bytes(const struct row* rows, int count, const struct bench_options* options) {
  size_t bytes = 0;
  for (int r = 0; r < count; ++r) {
    for (int s = 0; s < options->size_count; ++s) {
      const size_t needed = row_is_run(&rows[r], s, options) ? row_bytes(&rows[r], options->sizes[s]) : 0;
      bytes = needed > bytes ? needed : bytes;
    }
  }
  return bytes;
}

static inline void collective_run(const struct row* rows, int count, const struct bench_options* options) {
  const size_t bytes = collective_bytes(rows, count, options);
  in = (double*)place_buffer(bytes);
  out = (double*)place_buffer(bytes);
  for (int r = 0; r < count; ++r) {
    for (int s = 0; s < options->size_count; ++s) {
      if (row_is_run(&rows[r], s, options)) row_measure(&rows[r], options->sizes[s], options);
    }
  }
  place_free(in);
  place_free(out);
}

#endif
