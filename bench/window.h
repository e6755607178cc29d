// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Windows of nonblocking messages from rank 0 to rank 1, or both ways at once (bibandwidth). One source, as in other
// benches of the kind; but every receive of a window has its own place, since overlapping receives are erroneous. With
// --fresh every message has a source of its own too: from one source, all but the first would come from a cache.
#ifndef WEFT_BENCH_WINDOW_H
#define WEFT_BENCH_WINDOW_H

#include <mpi.h>

#include "place.h"

// All places of a window together: 64 messages up to 256 KiB, fewer of the larger ones. limits.c copies in the same
// way.
enum { WINDOW = 64, WINDOW_BYTES = 16 << 20 };

static inline int window_count(size_t size) {
  if (size * WINDOW <= WINDOW_BYTES) return WINDOW;
  return size > WINDOW_BYTES ? 1 : (int)(WINDOW_BYTES / size);
}

struct window {
  unsigned char *out, *in;
  MPI_Request requests[2 * WINDOW];
  int fresh;
  uint64_t turn;  // of the writing, the same in both ranks
  double clock_us;
};

static inline void window_create(struct window* w, const struct bench_options* options) {
  size_t out = 0, in = 0;
  for (int i = 0; i < options->size_count; ++i) {
    const size_t size = options->sizes[i], all = size * (size_t)window_count(size);
    const size_t source = options->fresh ? all : size;
    out = source > out ? source : out;
    in = all > in ? all : in;
  }
  w->fresh = options->fresh;
  w->turn = 0;
  w->clock_us = bench_clock_us();
  w->out = place_buffer(out);
  w->in = place_buffer(in);
}

static inline void window_free(struct window* w) {
  place_free(w->out);
  place_free(w->in);
}

static inline int window_post_receives(struct window* w, int peer, size_t size, int first) {
  const int count = window_count(size);
  for (int i = 0; i < count; ++i) {
    MPI_Irecv(w->in + (size_t)i * size, (int)size, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &w->requests[first + i]);
  }
  return first + count;
}

static inline int window_post_sends(struct window* w, int peer, size_t size, int first) {
  const int count = window_count(size);
  for (int i = 0; i < count; ++i) {
    MPI_Isend(w->out + (w->fresh ? (size_t)i * size : 0), (int)size, MPI_BYTE, peer, 1, MPI_COMM_WORLD,
              &w->requests[first + i]);
  }
  return first + count;
}

// One-way windows, each answered by a four-byte message once all of it has arrived.
static inline double window_one_way(struct window* w, int rank, size_t size, int iterations) {
  int ack = 0;
  const double start = bench_now_us();
  for (int i = 0; i < iterations; ++i) {
    if (rank == 0) {
      MPI_Waitall(window_post_sends(w, 1, size, 0), w->requests, MPI_STATUSES_IGNORE);
      MPI_Recv(&ack, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Waitall(window_post_receives(w, 0, size, 0), w->requests, MPI_STATUSES_IGNORE);
      MPI_Send(&ack, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
  }
  return bench_now_us() - start;
}

static inline double window_both_ways(struct window* w, int rank, size_t size, int iterations) {
  const double start = bench_now_us();
  for (int i = 0; i < iterations; ++i) {
    const int posted = window_post_receives(w, 1 - rank, size, 0);
    MPI_Waitall(window_post_sends(w, 1 - rank, size, posted), w->requests, MPI_STATUSES_IGNORE);
  }
  return bench_now_us() - start;
}

typedef double (*window_pattern)(struct window* w, int rank, size_t size, int iterations);

// Windows whose messages are written anew. Rank 1 says that it is ready, and only then the clock of rank 0 runs, for a
// single window: writing takes no part of the time. Both ways it runs until rank 1 has all of the window too. Its own
// time is taken off, here and in the pattern.
static inline double window_renewed(struct window* w, window_pattern pattern, int rank, size_t size, int iterations) {
  const size_t bytes = size * (size_t)window_count(size);
  const int both = pattern == window_both_ways;
  double took = 0;
  for (int i = 0; i < iterations; ++i) {
    ++w->turn;
    if (rank == 0 || both) place_renew(w->out, bytes, w->turn);
    if (rank == 1) {
      MPI_Send(NULL, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
      pattern(w, rank, size, 1);
      if (both) MPI_Send(NULL, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
    } else {
      MPI_Recv(NULL, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      const double start = bench_now_us();
      pattern(w, rank, size, 1);
      if (both) MPI_Recv(NULL, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      took += bench_now_us() - start - 3 * w->clock_us;
    }
  }
  return took;
}

static inline double window_time(struct window* w, window_pattern pattern, int rank, size_t size, int iterations) {
  return w->fresh ? window_renewed(w, pattern, rank, size, iterations) : pattern(w, rank, size, iterations);
}

// Microseconds per window, on rank 0.
static inline double window_measure(struct window* w, window_pattern pattern, int rank, size_t size,
                                    const struct bench_options* options) {
  const size_t all = size * (size_t)window_count(size);
  if (!w->fresh) {
    place_fill(w->out, size, 7);
    pattern(w, rank, size, 1);
    for (int i = 0; rank == 1 && i < window_count(size); ++i) place_check(w->in + (size_t)i * size, size, 7);
  }
  enum { TRIES = 2 };
  window_time(w, pattern, rank, size, TRIES);
  const int iterations = bench_agree(bench_iterations(options, window_time(w, pattern, rank, size, TRIES), TRIES));
  double blocks[BENCH_BLOCKS];
  for (int b = 0; b < BENCH_BLOCKS; ++b) blocks[b] = window_time(w, pattern, rank, size, iterations) / iterations;
  if (w->fresh && (rank == 1 || pattern == window_both_ways)) place_check_renewed(w->in, all, w->turn);
  return bench_median(blocks, BENCH_BLOCKS);
}

#endif
