// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Common parts of put_latency, get_latency, put_rate and accumulate: rank 0 works on the memory of rank 1 under one
// lock of all, while rank 1 waits in a barrier, where libraries that need its help get it.
#ifndef WEFT_BENCH_ONESIDED_H
#define WEFT_BENCH_ONESIDED_H

#include <mpi.h>

#include "place.h"

struct onesided {
  MPI_Win window;
  unsigned char* memory;   // of this rank, in the window
  unsigned char* created;  // the same, unless MPI allocated it
  unsigned char* mine;     // the origin's, outside of it
  int rank;
};

// `iterations` of the pattern, by rank 0 alone; all of it has happened at the target when it returns.
typedef void (*onesided_pattern)(struct onesided* o, size_t size, int iterations);

static inline void onesided_start(struct onesided* o, int* argc, char*** argv, size_t bytes) {
  MPI_Init(argc, argv);
  o->rank = bench_rank_of(2);
  place_start(o->rank);
  const int allocated = places.of[0] == PLACE_HOST && places.of[1] == PLACE_HOST;
  if (allocated) {
    MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &o->memory, &o->window);
    memset(o->memory, 1, bytes);
    o->created = NULL;
  } else {
    o->memory = o->created = place_buffer(bytes);
    MPI_Win_create(o->memory, (MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &o->window);
  }
  o->mine = place_buffer(bytes);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, o->window);
}

// From here on each rank sees the other's stores.
static inline void onesided_meet(const struct onesided* o) {
  MPI_Win_sync(o->window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(o->window);
}

static inline void onesided_end(struct onesided* o) {
  MPI_Win_unlock_all(o->window);
  MPI_Win_free(&o->window);
  place_free(o->mine);
  if (o->created) place_free(o->created);
  MPI_Finalize();
}

static inline size_t onesided_largest(const struct bench_options* options) {
  size_t largest = 8;
  for (int i = 0; i < options->size_count; ++i) largest = options->sizes[i] > largest ? options->sizes[i] : largest;
  return largest;
}

static inline double onesided_block(struct onesided* o, onesided_pattern pattern, size_t size, int iterations) {
  const double start = bench_now_us();
  pattern(o, size, iterations);
  return bench_now_us() - start;
}

// Microseconds of an iteration: the median of blocks. On rank 0; others only take part in the barrier.
static inline double onesided_measure(struct onesided* o, onesided_pattern pattern, size_t size,
                                      const struct bench_options* options) {
  enum { TRIES = 8 };
  double result = 0;
  if (o->rank == 0) {
    onesided_block(o, pattern, size, TRIES);
    const int iterations = bench_iterations(options, onesided_block(o, pattern, size, TRIES), TRIES);
    double blocks[BENCH_BLOCKS];
    for (int b = 0; b < BENCH_BLOCKS; ++b) blocks[b] = onesided_block(o, pattern, size, iterations) / iterations;
    result = bench_median(blocks, BENCH_BLOCKS);
  }
  onesided_meet(o);
  return result;
}

#endif
