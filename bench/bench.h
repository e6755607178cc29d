// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Common parts of the measuring programs: clock, blocks, medians, one printed line per result (`name size value unit`).
// They use the standard ABI alone, so one binary measures every library that has a libmpi_abi.so.1.
#ifndef WEFT_BENCH_H
#define WEFT_BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// The result is the median of blocks; a block is long enough to hide the clock's own cost.
enum { BENCH_BLOCKS = 9, BENCH_MAX_SIZES = 16, BENCH_PAGE = 4096 };

// Least bytes that --fresh measures: below, an operation is too short for a clock of its own.
enum { BENCH_FRESH_LEAST = 4096 };

// Exit status of a program that the library cannot run.
enum { BENCH_SKIP = 77 };

// Exit status after a mistake in the arguments.
enum { BENCH_USAGE = 2 };

struct bench_options {
  double block_us;                // how long one block should take
  size_t sizes[BENCH_MAX_SIZES];  // bytes
  int size_count;
  int fresh;  // send buffers are written anew before each operation
};

// clock_gettime rather than MPI_Wtime: the same clock whatever the library.
static inline double bench_now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static inline int bench_compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static inline double bench_median(double* values, int count) {
  qsort(values, (size_t)count, sizeof *values, bench_compare);
  return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static inline void bench_emit(const char* name, size_t size, double value, const char* unit) {
  printf("%s %zu %.6g %s\n", name, size, value, unit);
  fflush(stdout);
}

static inline _Noreturn void bench_die(const char* what) {
  fprintf(stderr, "bench: %s\n", what);
  exit(1);
}

// Bytes as an argument says them. Other words are no sizes: a mistaken option must not measure something else.
static inline size_t bench_size(const char* word) {
  char* end = NULL;
  const unsigned long long bytes = strtoull(word, &end, 10);
  if (word[0] >= '0' && word[0] <= '9' && *end == '\0') return (size_t)bytes;
  fprintf(stderr, "bench: \"%s\" is no option of this program and no size in bytes\n", word);
  exit(BENCH_USAGE);
}

// Sizes that --fresh measures, of those in the options.
static inline void bench_keep_long(struct bench_options* options) {
  int kept = 0;
  for (int i = 0; i < options->size_count; ++i) {
    if (options->sizes[i] >= BENCH_FRESH_LEAST) options->sizes[kept++] = options->sizes[i];
  }
  options->size_count = kept;
  if (kept > 0) return;
  fprintf(stderr, "bench: skipped, --fresh measures sizes of %d bytes and more\n", BENCH_FRESH_LEAST);
  exit(BENCH_SKIP);
}

// Arguments: `--quick`, `--fresh`, and sizes in bytes that replace the program's own. With --fresh each rank writes
// its send buffer anew before each operation, since data that nobody has changed are still in the reader's cache;
// programs that do so define BENCH_FRESH, and add `_fresh` to the names of their results.
static inline struct bench_options bench_parse(int argc, char** argv, const size_t* sizes, int count) {
  struct bench_options options = {.block_us = 10e3, .size_count = count};
  memcpy(options.sizes, sizes, (size_t)count * sizeof *sizes);
  int given = 0;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--quick") == 0) {
      options.block_us = 2e3;
    } else if (strcmp(argv[i], "--fresh") == 0) {
#ifdef BENCH_FRESH
      options.fresh = 1;
#else
      bench_die("this program writes its buffers once: it takes no --fresh");
#endif
    } else if (strcmp(argv[i], "-d") == 0) {
      bench_die("the buffers of this program lie in memory of the host: it takes no -d");
    } else if (given == BENCH_MAX_SIZES) {
      bench_die("it takes 16 sizes at most");
    } else {
      options.sizes[given++] = bench_size(argv[i]);
    }
  }
  if (given > 0) options.size_count = given;
  if (options.fresh) bench_keep_long(&options);
  return options;
}

static inline void bench_emit_measure(const struct bench_options* options, const char* name, size_t size, double value,
                                      const char* unit) {
  char full[64];
  snprintf(full, sizeof full, "%s%s", name, options->fresh ? "_fresh" : "");
  bench_emit(full, size, value, unit);
}

// The time that a pair of calls of the clock adds to that between them.
static inline double bench_clock_us(void) {
  enum { CALLS = 1000 };
  double blocks[BENCH_BLOCKS];
  for (int b = 0; b < BENCH_BLOCKS; ++b) {
    const double start = bench_now_us();
    for (int i = 0; i < CALLS; ++i) (void)bench_now_us();
    blocks[b] = (bench_now_us() - start) / CALLS;
  }
  return bench_median(blocks, BENCH_BLOCKS);
}

// Iterations that fill a block, from the time that `tried` of them took.
static inline int bench_iterations(const struct bench_options* options, double took_us, int tried) {
  const double wanted = options->block_us * tried / (took_us > 0.1 ? took_us : 0.1);
  return wanted < 2 ? 2 : wanted > 1e6 ? 1000000 : (int)wanted;
}

// Page-aligned and touched, so that page faults are not measured.
static inline unsigned char* bench_buffer(size_t bytes) {
  unsigned char* p = aligned_alloc(BENCH_PAGE, (bytes + BENCH_PAGE - 1) / BENCH_PAGE * BENCH_PAGE + BENCH_PAGE);
  if (!p) bench_die("out of memory");
  memset(p, 1, bytes);
  return p;
}

// A message that arrives wrong must not count as fast: each size is checked once.
static inline void bench_fill(unsigned char* p, size_t bytes, unsigned seed) {
  for (size_t i = 0; i < bytes; ++i) p[i] = (unsigned char)((i * 131 + (i >> 8) + seed) & 0xff);
}

static inline void bench_check(const unsigned char* p, size_t bytes, unsigned seed) {
  for (size_t i = 0; i < bytes; ++i) {
    if (p[i] != (unsigned char)((i * 131 + (i >> 8) + seed) & 0xff)) bench_die("a message arrived with wrong bytes");
  }
}

// A buffer that is written anew: whole words by plain stores, other values in each turn.
static inline void bench_write(void* p, size_t bytes, uint64_t turn) {
  uint64_t* words = p;
  for (size_t i = 0; i < bytes / sizeof *words; ++i) words[i] = (turn << 32) + i;
}

static inline void bench_check_written(const void* p, size_t bytes, uint64_t turn) {
  const uint64_t* words = p;
  for (size_t i = 0; i < bytes / sizeof *words; ++i) {
    if (words[i] != (turn << 32) + i) bench_die("a message arrived without its last change");
  }
}

#ifdef MPI_VERSION
// Rank 0 decides how often, every other rank hears of it.
static inline int bench_agree(int value) {
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank > 0) MPI_Recv(&value, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int r = 1; rank == 0 && r < ranks; ++r) MPI_Send(&value, 1, MPI_INT, r, 99, MPI_COMM_WORLD);
  return value;
}

static inline int bench_rank_of(int needed) {
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  // A launcher of another library starts singletons: that must not look like a result.
  if (ranks < needed) bench_die("too few ranks: was this started by the library's own launcher?");
  return rank;
}

// The kinds in BENCH_KINDS, of the memory that the program passes, for the communicator or window that is made with it.
static inline MPI_Info bench_info(void) {
  MPI_Info info;
  const char* kinds = getenv("BENCH_KINDS");
  MPI_Info_create(&info);
  if (kinds) MPI_Info_set(info, "mpi_assert_memory_alloc_kinds", kinds);
  return info;
}

// Ends the program when the library provides less than the level of threads it needs; `name` is for the message.
static inline void bench_need_level(int provided, int needed, const char* name) {
  if (provided >= needed) return;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) fprintf(stderr, "bench: skipped, the library gives less than MPI_THREAD_%s\n", name);
  MPI_Finalize();
  exit(BENCH_SKIP);
}
#endif

#endif
