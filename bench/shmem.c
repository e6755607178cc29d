// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// OpenSHMEM between two PEs: put and get until the data are there, windows of nonblocking ones, atomics, a put's signal
// there and back, barrier, reductions, broadcast, collect and alltoall of all PEs, and the rate of 8-byte puts, gets
// and atomic additions by threads with a context each. Compiles against any OpenSHMEM 1.4.
//   shmem [--only TEXT] [--threads N] [--quick] [bytes...]
// --only leaves out rows whose name has no such text: "rate", "alltoall".
#include <pthread.h>
#include <shmem.h>
#include <stdbool.h>

#include "bench.h"

enum { THREADS_MOST = 16, WINDOW = 64 };

struct state {
  int pe;
  int other;
  long* words;           // symmetric, a cache line for each thread and more
  unsigned char* there;  // symmetric, of the largest size
  unsigned char* mine;
  const struct bench_options* options;
};

typedef void (*body)(struct state* s, size_t size, int iterations);

static void put(struct state* s, size_t size, int iterations) {
  for (int i = 0; i < iterations; ++i) {
    shmem_putmem(s->there, s->mine, size, s->other);
    shmem_quiet();
  }
}
static void get(struct state* s, size_t size, int iterations) {
  for (int i = 0; i < iterations; ++i) shmem_getmem(s->mine, s->there, size, s->other);
}
static void put_nbi(struct state* s, size_t size, int iterations) {
  for (int i = 0; i < iterations; ++i) {
    shmem_putmem_nbi(s->there, s->mine, size, s->other);
    if (i % WINDOW == WINDOW - 1) shmem_quiet();
  }
  shmem_quiet();
}
static void get_nbi(struct state* s, size_t size, int iterations) {
  for (int i = 0; i < iterations; ++i) {
    shmem_getmem_nbi(s->mine, s->there, size, s->other);
    if (i % WINDOW == WINDOW - 1) shmem_quiet();
  }
  shmem_quiet();
}
static void fetch(struct state* s, size_t size, int iterations) {
  (void)size;
  for (int i = 0; i < iterations; ++i) (void)shmem_long_atomic_fetch(s->words, s->other);
}
static void fetch_inc(struct state* s, size_t size, int iterations) {
  (void)size;
  for (int i = 0; i < iterations; ++i) (void)shmem_long_atomic_fetch_inc(s->words, s->other);
}
static void swap(struct state* s, size_t size, int iterations) {
  (void)size;
  for (int i = 0; i < iterations; ++i) (void)shmem_long_atomic_swap(s->words, i, s->other);
}
static void set(struct state* s, size_t size, int iterations) {
  (void)size;
  for (int i = 0; i < iterations; ++i) {
    shmem_long_atomic_set(s->words, i, s->other);
    shmem_quiet();
  }
}
static void inc(struct state* s, size_t size, int iterations) {
  (void)size;
  for (int i = 0; i < iterations; ++i) {
    shmem_long_atomic_inc(s->words, s->other);
    shmem_quiet();
  }
}
static void fetch_add(struct state* s, size_t size, int iterations) {
  (void)size;
  for (int i = 0; i < iterations; ++i) (void)shmem_long_atomic_fetch_add(s->words, 1, s->other);
}
static void compare_swap(struct state* s, size_t size, int iterations) {
  (void)size;
  for (int i = 0; i < iterations; ++i) (void)shmem_long_atomic_compare_swap(s->words, i, i + 1, s->other);
}
static void add(struct state* s, size_t size, int iterations) {
  (void)size;
  for (int i = 0; i < iterations; ++i) {
    shmem_long_atomic_add(s->words, 1, s->other);
    shmem_quiet();
  }
}

// By one PE, while the other waits in the barrier.
static double alone(struct state* s, body run, size_t size) {
  double blocks[BENCH_BLOCKS];
  double median = 0;
  shmem_barrier_all();
  if (s->pe == 0) {
    const int tried = 16;
    run(s, size, tried);
    const double start = bench_now_us();
    run(s, size, tried);
    const int iterations = bench_iterations(s->options, bench_now_us() - start, tried);
    for (int b = 0; b < BENCH_BLOCKS; ++b) {
      const double begin = bench_now_us();
      run(s, size, iterations);
      blocks[b] = (bench_now_us() - begin) / iterations;
    }
    median = bench_median(blocks, BENCH_BLOCKS);
  }
  shmem_barrier_all();
  return median;
}

// Half of the time from a put to the other's answer.
static void ping_pong(struct state* s, size_t size, int iterations) {
  (void)size;
  static long turn = 0;  // the same on both: all calls of this function are made by both
  long* flag = s->words + 8;
  for (int i = 0; i < iterations; ++i) {
    ++turn;
    if (s->pe == 0) {
      shmem_long_p(flag, turn, s->other);
      shmem_long_wait_until(flag, SHMEM_CMP_EQ, turn);
    } else {
      shmem_long_wait_until(flag, SHMEM_CMP_EQ, turn);
      shmem_long_p(flag, turn, s->other);
    }
  }
}
static void barrier(struct state* s, size_t size, int iterations) {
  (void)s, (void)size;
  for (int i = 0; i < iterations; ++i) shmem_barrier_all();
}

// Collective operations of 1.4, with the arrays that they want.
enum {
  SYNC_REDUCE = SHMEM_REDUCE_SYNC_SIZE > SHMEM_BCAST_SYNC_SIZE ? SHMEM_REDUCE_SYNC_SIZE : SHMEM_BCAST_SYNC_SIZE,
  SYNC_COLLECT =
      SHMEM_COLLECT_SYNC_SIZE > SHMEM_ALLTOALL_SYNC_SIZE ? SHMEM_COLLECT_SYNC_SIZE : SHMEM_ALLTOALL_SYNC_SIZE,
  SYNC_MOST = SYNC_REDUCE > SYNC_COLLECT ? SYNC_REDUCE : SYNC_COLLECT
};
static long sync_work[2][SYNC_MOST];
static double* reduce_work;
static double* sums;   // a result of each size for every PE
static double* terms;  // the same
static void reduce(struct state* s, size_t size, int iterations) {
  (void)s;
  for (int i = 0; i < iterations; ++i) {
    shmem_double_sum_to_all(sums, terms, (int)(size / 8), 0, 0, shmem_n_pes(), reduce_work, sync_work[i % 2]);
  }
}
static void broadcast(struct state* s, size_t size, int iterations) {
  (void)s;
  for (int i = 0; i < iterations; ++i)
    shmem_broadcast64(sums, terms, size / 8, 0, 0, 0, shmem_n_pes(), sync_work[i % 2]);
}
static void collect(struct state* s, size_t size, int iterations) {
  (void)s;
  for (int i = 0; i < iterations; ++i) {
    shmem_collect64(sums, terms, size / 8, 0, 0, shmem_n_pes(), sync_work[i % 2]);
  }
}
static void fcollect(struct state* s, size_t size, int iterations) {
  (void)s;
  for (int i = 0; i < iterations; ++i) {
    shmem_fcollect64(sums, terms, size / 8, 0, 0, shmem_n_pes(), sync_work[i % 2]);
  }
}
static void alltoall(struct state* s, size_t size, int iterations) {
  (void)s;
  for (int i = 0; i < iterations; ++i) {
    shmem_alltoall64(sums, terms, size / 8, 0, 0, shmem_n_pes(), sync_work[i % 2]);
  }
}

// By all PEs, as often as the first one says.
static double together(struct state* s, body run, size_t size) {
  static long count;
  double blocks[BENCH_BLOCKS];
  const int tried = 16;
  shmem_barrier_all();
  run(s, size, tried);
  const double start = bench_now_us();
  run(s, size, tried);
  if (s->pe == 0) {
    const long iterations = bench_iterations(s->options, bench_now_us() - start, tried) / 2 * 2 + 2;
    for (int pe = shmem_n_pes() - 1; pe >= 0; --pe) shmem_long_p(&count, iterations, pe);
  }
  shmem_barrier_all();
  for (int b = 0; b < BENCH_BLOCKS; ++b) {
    shmem_barrier_all();
    const double begin = bench_now_us();
    run(s, size, (int)count);
    blocks[b] = (bench_now_us() - begin) / (double)count;
  }
  return bench_median(blocks, BENCH_BLOCKS);
}

struct worker {
  struct state* s;
  void (*window)(struct worker* w, long* place);
  shmem_ctx_t ctx;
  int index;
  int windows;
};
static void puts_of_a_window(struct worker* w, long* place) {
  for (int i = 0; i < WINDOW; ++i) shmem_ctx_long_p(w->ctx, &place[i % 8], i, w->s->other);
}
static void gets_of_a_window(struct worker* w, long* place) {
  long got[WINDOW];
  for (int i = 0; i < WINDOW; ++i) shmem_ctx_getmem_nbi(w->ctx, &got[i], &place[i % 8], sizeof(long), w->s->other);
  shmem_ctx_quiet(w->ctx);
}
static void adds_of_a_window(struct worker* w, long* place) {
  for (int i = 0; i < WINDOW; ++i) shmem_ctx_long_atomic_add(w->ctx, &place[8], 1, w->s->other);
}
static void* windows_of_a_thread(void* argument) {
  struct worker* w = argument;
  long* place = w->s->words + 64 * (w->index + 1);
  for (int n = 0; n < w->windows; ++n) {
    w->window(w, place);
    shmem_ctx_quiet(w->ctx);
  }
  return NULL;
}

// Additions to each thread's place so far, by PE 0, which knows how many.
static long added[THREADS_MOST];

// Returns how many windows take the time of a block.
static int windows_for(struct worker* w) {
  enum { tried = 16 };
  w->windows = tried;
  (void)windows_of_a_thread(w);
  const double begin = bench_now_us();
  (void)windows_of_a_thread(w);
  added[w->index] += 2L * tried * WINDOW;
  return bench_iterations(w->s->options, bench_now_us() - begin, tried);
}

// Millions of operations a second, of so many threads.
static double rate_of(struct state* s, int threads, void (*window)(struct worker* w, long* place)) {
  struct worker workers[THREADS_MOST];
  pthread_t ids[THREADS_MOST];
  double best[BENCH_BLOCKS];
  double median = 0;
  shmem_barrier_all();
  if (s->pe == 0) {
    for (int t = 0; t < threads; ++t) {
      workers[t] = (struct worker){.s = s, .window = window, .index = t};
      if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &workers[t].ctx) != 0) workers[t].ctx = SHMEM_CTX_DEFAULT;
    }
    const int windows = windows_for(&workers[0]);
    for (int t = 0; t < threads; ++t) {
      workers[t].windows = windows;
      added[t] += (long)BENCH_BLOCKS * windows * WINDOW;
    }
    for (int b = 0; b < BENCH_BLOCKS; ++b) {
      const double begin = bench_now_us();
      for (int t = 1; t < threads; ++t) pthread_create(&ids[t], NULL, windows_of_a_thread, &workers[t]);
      (void)windows_of_a_thread(&workers[0]);
      for (int t = 1; t < threads; ++t) pthread_join(ids[t], NULL);
      best[b] = (double)threads * workers[0].windows * WINDOW / (bench_now_us() - begin);
    }
    for (int t = 0; t < threads; ++t) {
      if (workers[t].ctx != SHMEM_CTX_DEFAULT) shmem_ctx_destroy(workers[t].ctx);
    }
    median = bench_median(best, BENCH_BLOCKS);
  }
  shmem_barrier_all();
  return median;
}

// The sums of threads are there: places begin at 0 and are used for nothing else.
static void check_sums(struct state* s, int threads) {
  if (s->pe == 0) shmem_putmem(added, added, sizeof added, 1);
  shmem_barrier_all();
  for (int i = 0; s->pe == 1 && i < threads; ++i) {
    if (s->words[64 * (i + 1) + 8] != added[i]) bench_die("atomic additions of threads were lost");
  }
  shmem_barrier_all();
}

static const char* only;
static bool is_wanted(const char* name) {
  return only == NULL || strstr(name, only) != NULL;
}

static void rates(struct state* s, const char* name, int threads, void (*window)(struct worker* w, long* place)) {
  for (int t = 1; t <= threads && is_wanted(name); t *= 2) {
    const double rate = rate_of(s, t, window);
    char numbered[32];
    snprintf(numbered, sizeof numbered, "%s.%d", name, t);
    if (s->pe == 0) bench_emit(numbered, 8, rate, "M/s");
  }
}

static void sizes_of(struct state* s, const char* name, body run, double (*measure)(struct state*, body, size_t)) {
  for (int i = 0; i < s->options->size_count && is_wanted(name); ++i) {
    const size_t size = s->options->sizes[i];
    const double us = measure(s, run, size);
    if (s->pe == 0) bench_emit(name, size, us, "us");
  }
}

static void one(struct state* s, const char* name, body run, double (*measure)(struct state*, body, size_t),
                double scale) {
  if (!is_wanted(name)) return;
  const double us = measure(s, run, 8);
  if (s->pe == 0) bench_emit(name, 8, us * scale, "us");
}

// Data arrive as they are: once for each size.
static void check_sizes(struct state* s) {
  for (int i = 0; i < s->options->size_count; ++i) {
    const size_t size = s->options->sizes[i];
    bench_fill(s->mine, size, 3 + (unsigned)i);
    shmem_barrier_all();
    if (s->pe == 0) shmem_putmem(s->there, s->mine, size, s->other);
    shmem_barrier_all();
    if (s->pe == 1) bench_check(s->there, size, 3 + (unsigned)i);
    shmem_barrier_all();
    memset(s->mine, 0, size);
    if (s->pe == 0) get_nbi(s, size, 1);
    if (s->pe == 0) bench_check(s->mine, size, 3 + (unsigned)i);
    shmem_barrier_all();
  }
}

// Block i of a collect is that of PE i; block i of an alltoall the one that PE i has for this PE.
static void check_collects(struct state* s) {
  static const body bodies[] = {collect, fcollect, alltoall};
  const int pes = shmem_n_pes();
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i < pes; ++i) terms[i] = 100.0 * s->pe + (k == 2 ? i : 0);
    shmem_barrier_all();
    bodies[k](s, sizeof(double), 2);
    for (int i = 0; i < pes; ++i) {
      if (sums[i] != 100.0 * i + (k == 2 ? s->pe : 0)) bench_die("a collect or alltoall arrived wrong");
    }
    shmem_barrier_all();
  }
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {8, 1024, 65536, 1048576};
  int threads = 2;
  if (argc > 2 && strcmp(argv[1], "--only") == 0) {
    only = argv[2];
    argc -= 2;
    argv += 2;
  }
  if (argc > 2 && strcmp(argv[1], "--threads") == 0) {
    threads = atoi(argv[2]);
    if (threads < 1 || threads > THREADS_MOST) bench_die("--threads takes 1 to 16");
    argc -= 2;
    argv += 2;
  }
  const struct bench_options options = bench_parse(argc, argv, sizes, sizeof sizes / sizeof *sizes);
  int provided;
  shmem_init_thread(threads > 1 ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE, &provided);
  if (threads > 1 && provided != SHMEM_THREAD_MULTIPLE) threads = 1;
  if (shmem_n_pes() < 2) bench_die("too few PEs: was this started by the library's own launcher?");
  size_t largest = 8;
  for (int i = 0; i < options.size_count; ++i) {
    if (options.sizes[i] > largest) largest = options.sizes[i];
  }
  const int pe = shmem_my_pe();
  struct state s = {.pe = pe, .other = pe == 0 ? 1 : 0, .options = &options, .mine = bench_buffer(largest)};
  s.words = shmem_align(4096, 8192 * sizeof(long));
  s.there = shmem_align(4096, largest);
  sums = shmem_malloc(largest * (size_t)shmem_n_pes());
  terms = shmem_malloc(largest * (size_t)shmem_n_pes());
  const size_t work =
      largest / 16 + 1 > SHMEM_REDUCE_MIN_WRKDATA_SIZE ? largest / 16 + 1 : SHMEM_REDUCE_MIN_WRKDATA_SIZE;
  reduce_work = shmem_malloc(work * sizeof(double));
  if (!s.words || !s.there || !sums || !terms || !reduce_work)
    bench_die("the heap is too small: set SHMEM_SYMMETRIC_SIZE higher");
  memset(s.words, 0, 8192 * sizeof(long));
  memset(s.there, 1, largest);
  memset(terms, 0, largest * (size_t)shmem_n_pes());
  for (size_t k = 0; k < sizeof sync_work / sizeof(long); ++k) (&sync_work[0][0])[k] = SHMEM_SYNC_VALUE;
  check_sizes(&s);
  check_collects(&s);
  sizes_of(&s, "shmem_put", put, alone);
  sizes_of(&s, "shmem_get", get, alone);
  sizes_of(&s, "shmem_put_nbi", put_nbi, alone);
  sizes_of(&s, "shmem_get_nbi", get_nbi, alone);
  one(&s, "shmem_fetch", fetch, alone, 1);
  one(&s, "shmem_fetch_inc", fetch_inc, alone, 1);
  one(&s, "shmem_swap", swap, alone, 1);
  one(&s, "shmem_set", set, alone, 1);
  one(&s, "shmem_inc", inc, alone, 1);
  one(&s, "shmem_fetch_add", fetch_add, alone, 1);
  one(&s, "shmem_compare_swap", compare_swap, alone, 1);
  one(&s, "shmem_add", add, alone, 1);
  if (shmem_n_pes() == 2) one(&s, "shmem_ping_pong", ping_pong, together, 0.5);
  one(&s, "shmem_barrier", barrier, together, 1);
  sizes_of(&s, "shmem_sum", reduce, together);
  sizes_of(&s, "shmem_broadcast", broadcast, together);
  sizes_of(&s, "shmem_collect", collect, together);
  sizes_of(&s, "shmem_fcollect", fcollect, together);
  sizes_of(&s, "shmem_alltoall", alltoall, together);
  rates(&s, "shmem_put_rate", threads, puts_of_a_window);
  rates(&s, "shmem_get_rate", threads, gets_of_a_window);
  memset(added, 0, sizeof added);
  rates(&s, "shmem_add_rate", threads, adds_of_a_window);
  check_sums(&s, threads);
  shmem_finalize();
  return 0;
}
