// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Common parts of the measuring programs with threads: their options, a team of threads per process, who talks to whom,
// blocks that begin and end for all threads together, and the check of what arrives.
//
// The first half of the ranks is paired with the second half (rank r with r + ranks/2), and thread i of a rank with
// thread i of its peer. Names of results end in the number of threads: `threads_rate_tag.4 8 12.5 M/s`.
#ifndef WEFT_BENCH_THREADS_H
#define WEFT_BENCH_THREADS_H

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "window.h"

enum { THREADS_MAX = 64, THREADS_LINE = 64 };

// How the messages of different threads are told apart.
enum threads_mode {
  MODE_TAG,        // a tag for each thread, one communicator
  MODE_COMM,       // a communicator for each thread
  MODE_SAME,       // nothing: any thread may receive what another one's peer sent
  MODE_ANY,        // as tag, received from MPI_ANY_SOURCE
  MODE_PROCESSES,  // no threads: as many processes instead, without thread support
  MODE_COUNT
};
static const char* const threads_mode_names[MODE_COUNT] = {"tag", "comm", "same", "any", "processes"};

enum { LEVELS = 4 };
static const char* const threads_level_names[LEVELS] = {"single", "funneled", "serialized", "multiple"};

struct threads_options {
  struct bench_options bench;
  int counts[BENCH_MAX_SIZES];  // of threads
  int count_count;
  bool modes[MODE_COUNT];
  int level;  // index into threads_level_names, -1 when not given
};

// A barrier of the threads of one process. It spins and then yields: a futex would cost more than a window of messages.
struct threads_barrier {
  _Alignas(THREADS_LINE) atomic_int arrived;
  _Alignas(THREADS_LINE) atomic_int round;
  int members;
  int spins;  // before the first yield; 0 where threads outnumber the cores
};

static inline void threads_meet(struct threads_barrier* barrier) {
  const int round = atomic_load_explicit(&barrier->round, memory_order_relaxed);
  // The last one's acquire sees what the others wrote; its release of `round` shows it to all of them.
  if (atomic_fetch_add_explicit(&barrier->arrived, 1, memory_order_acq_rel) == barrier->members - 1) {
    atomic_store_explicit(&barrier->arrived, 0, memory_order_relaxed);
    atomic_store_explicit(&barrier->round, round + 1, memory_order_release);
    return;
  }
  for (int n = 0; atomic_load_explicit(&barrier->round, memory_order_acquire) == round; ++n) {
    if (n >= barrier->spins) sched_yield();
  }
}

struct team;

struct member {
  _Alignas(THREADS_LINE) struct team* team;
  int index;
  pthread_t thread;  // not used for member 0, which is the main thread
  MPI_Comm comm;
  int peer, source, tag, answer_tag;
  unsigned char *out, *in;
  MPI_Request* requests;
  double started, ended;
};

// The actions of a thread in a block: `iterations` times the pattern. A checked run looks at every byte that arrives.
typedef void (*threads_body)(struct member* me, int iterations, bool checked);

struct team {
  const struct threads_options* options;
  int threads;  // of this process
  int rank, ranks;
  MPI_Comm comms[THREADS_MAX];
  struct threads_barrier barrier;
  cpu_set_t allowed;
  // The measurement in progress.
  enum threads_mode mode;
  size_t size;
  threads_body body;
  int iterations;
  bool checked, leave;
  MPI_Request* shared;                // where the threads' requests lie in one array
  atomic_int came_from[THREADS_MAX];  // MODE_SAME: messages by the thread that sent them
  struct member members[THREADS_MAX];
};

// The processors this process may use, before the library binds anything.
static inline cpu_set_t threads_allowed(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) bench_die("no sched_getaffinity");
  return set;
}

static inline int threads_list(const char* text, int* values, int most) {
  int count = 0;
  for (char* end = NULL; *text && count < most; text = *end ? end + 1 : end) {
    values[count++] = (int)strtol(text, &end, 10);
    if (end == text || (*end && *end != ',')) bench_die("a list of numbers is written 1,2,4");
  }
  return count;
}

// Index of the name that the text begins with and that fills its first `length` bytes; `count` when there is none.
static inline int threads_find(const char* const* names, int count, const char* text, size_t length) {
  int i = 0;
  while (i < count && (strlen(names[i]) != length || memcmp(names[i], text, length) != 0)) ++i;
  return i;
}

static inline void threads_parse_modes(const char* text, bool* modes) {
  for (int m = 0; m < MODE_COUNT; ++m) modes[m] = false;
  while (*text) {
    const size_t length = strcspn(text, ",");
    const int m = threads_find(threads_mode_names, MODE_COUNT, text, length);
    if (m == MODE_COUNT) bench_die("modes are tag, comm, same, any and processes");
    modes[m] = true;
    text += length + (text[length] == ',');
  }
}

// `--threads=1,2,4`, `--mode=tag,comm`, `--level=single`, and what bench_parse knows. `modes` has the names of those
// that the program has; all but processes are run when none is asked for. Below level multiple there is one thread.
static inline struct threads_options threads_parse(int argc, char** argv, const char* modes, const size_t* sizes,
                                                   int count) {
  struct threads_options options = {.counts = {1, 2, 4, 8}, .count_count = 4, .level = -1};
  bool has[MODE_COUNT];
  threads_parse_modes(modes, has);
  memcpy(options.modes, has, sizeof has);
  options.modes[MODE_PROCESSES] = false;
  char* rest[2 * BENCH_MAX_SIZES];
  int rest_count = 1;
  for (int i = 1; i < argc; ++i) {
    if (strncmp(argv[i], "--threads=", 10) == 0) {
      options.count_count = threads_list(argv[i] + 10, options.counts, BENCH_MAX_SIZES);
    } else if (strncmp(argv[i], "--mode=", 7) == 0) {
      threads_parse_modes(argv[i] + 7, options.modes);
    } else if (strncmp(argv[i], "--level=", 8) == 0) {
      options.level = threads_find(threads_level_names, LEVELS, argv[i] + 8, strlen(argv[i] + 8));
      if (options.level == LEVELS) bench_die("levels are single, funneled, serialized and multiple");
    } else if (rest_count < 2 * BENCH_MAX_SIZES) {
      rest[rest_count++] = argv[i];
    }
  }
  for (int i = 0; i < options.count_count; ++i) {
    if (options.counts[i] < 1 || options.counts[i] > THREADS_MAX) bench_die("1 to 64 threads can be asked for");
  }
  for (int m = 0; m < MODE_COUNT; ++m) {
    if (options.modes[m] && !has[m]) bench_die("this program does not have that mode");
    if (m != MODE_PROCESSES && options.modes[m] && options.modes[MODE_PROCESSES]) {
      bench_die("processes instead of threads are a run of their own");
    }
  }
  if (options.level >= 0 && options.level < LEVELS - 1) options.count_count = options.counts[0] = 1;
  options.bench = bench_parse(rest_count, rest, sizes, count);
  options.bench.block_us *= 2;
  for (int i = 0; i < options.bench.size_count; ++i) {
    if (options.bench.sizes[i] < 1) bench_die("sizes are bytes, from 1");
  }
  return options;
}

// MPI with the level that the options ask for, MPI_THREAD_MULTIPLE when they do not say. Returns the rank.
static inline int threads_init(int* argc, char*** argv, const struct threads_options* options, int ranks) {
  static const int levels[LEVELS] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                                     MPI_THREAD_MULTIPLE};
  static const char* const names[LEVELS] = {"SINGLE", "FUNNELED", "SERIALIZED", "MULTIPLE"};
  const int level = options->level >= 0 ? options->level : options->modes[MODE_PROCESSES] ? 0 : LEVELS - 1;
  int provided;
  MPI_Init_thread(argc, argv, levels[level], &provided);
  const int rank = bench_rank_of(ranks);
  bench_need_level(provided, levels[level], names[level]);
  return rank;
}

// Each thread of all ranks gets a core of its own if there are enough; otherwise the scheduler places them.
static inline bool threads_crowded(const struct team* team) {
  return team->ranks * team->threads > CPU_COUNT(&team->allowed);
}

static inline void threads_pin(const struct member* me) {
  const struct team* team = me->team;
  cpu_set_t set = team->allowed;
  if (!threads_crowded(team)) {
    int left = team->rank * team->threads + me->index, cpu = 0;
    while (!CPU_ISSET(cpu, &team->allowed) || left-- > 0) ++cpu;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
  }
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

static inline void threads_run_member(struct member* me) {
  me->started = bench_now_us();
  me->team->body(me, me->team->iterations, me->team->checked);
  me->ended = bench_now_us();
}

static inline void* threads_main(void* argument) {
  struct member* me = argument;
  threads_pin(me);
  while (true) {
    threads_meet(&me->team->barrier);
    if (me->team->leave) return NULL;
    threads_run_member(me);
    threads_meet(&me->team->barrier);
  }
}

// A communicator for each thread. The key is Intel MPI's name for "only this thread uses it" (thread-split model);
// others ignore it.
static inline MPI_Comm threads_communicator(int index) {
  MPI_Comm comm;
  MPI_Info info;
  char text[16];
  snprintf(text, sizeof text, "%d", index);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Info_create(&info);
  MPI_Info_set(info, "thread_id", text);
  MPI_Comm_set_info(comm, info);
  MPI_Info_free(&info);
  return comm;
}

static inline void threads_start(struct team* team, const struct threads_options* options, const cpu_set_t* allowed,
                                 int threads) {
  memset(team, 0, sizeof *team);
  team->options = options;
  team->threads = threads;
  team->allowed = *allowed;
  MPI_Comm_rank(MPI_COMM_WORLD, &team->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &team->ranks);
  team->barrier.members = threads;
  team->barrier.spins = threads_crowded(team) ? 0 : 10000;
  for (int i = 0; i < threads; ++i) {
    team->comms[i] = options->modes[MODE_COMM] ? threads_communicator(i) : MPI_COMM_WORLD;
    team->members[i].team = team;
    team->members[i].index = i;
  }
  threads_pin(&team->members[0]);
  for (int i = 1; i < threads; ++i) {
    if (pthread_create(&team->members[i].thread, NULL, threads_main, &team->members[i]) != 0) {
      bench_die("cannot create a thread");
    }
  }
}

// Memory for every thread: `out` and `in` bytes, and requests.
static inline void threads_buffers(struct team* team, size_t out, size_t in, int requests) {
  for (int i = 0; i < team->threads; ++i) {
    team->members[i].out = bench_buffer(out);
    team->members[i].in = bench_buffer(in);
    // Whole lines, so that no two threads write to one.
    team->members[i].requests = (MPI_Request*)bench_buffer((size_t)requests * sizeof(MPI_Request));
  }
}

static inline void threads_end(struct team* team) {
  team->leave = true;
  threads_meet(&team->barrier);
  for (int i = 0; i < team->threads; ++i) {
    if (i > 0) pthread_join(team->members[i].thread, NULL);
    if (team->comms[i] != MPI_COMM_WORLD) MPI_Comm_free(&team->comms[i]);
    free(team->members[i].out);
    free(team->members[i].in);
    free(team->members[i].requests);
  }
}

// The partners from now on. Answers have tags of their own, and always go from thread i to thread i: when any thread
// could take any answer, one could run ahead on another's and leave it, at its end, with receivers that wait for more.
static inline void threads_route(struct team* team, enum threads_mode mode) {
  enum { ANSWERS = 1000 };
  const int half = team->ranks / 2;
  team->mode = mode;
  for (int i = 0; i < team->threads; ++i) {
    struct member* m = &team->members[i];
    m->comm = mode == MODE_COMM ? team->comms[i] : MPI_COMM_WORLD;
    m->tag = mode == MODE_TAG || mode == MODE_ANY ? i : 0;
    m->answer_tag = i + ANSWERS;
    m->peer = half == 0 ? 0 : team->rank < half ? team->rank + half : team->rank - half;
    m->source = mode == MODE_ANY ? MPI_ANY_SOURCE : m->peer;
  }
}

// One block on all threads of all ranks: microseconds from the first that began to the last that ended. All ranks get
// the same number; CLOCK_MONOTONIC is one clock for a host.
static inline double threads_block(struct team* team, int iterations, bool checked) {
  team->iterations = iterations;
  team->checked = checked;
  for (int i = 0; i < team->threads; ++i) atomic_store(&team->came_from[i], 0);
  MPI_Barrier(MPI_COMM_WORLD);
  threads_meet(&team->barrier);
  threads_run_member(&team->members[0]);
  threads_meet(&team->barrier);
  double times[2] = {team->members[0].started, -team->members[0].ended}, all[2];
  for (int i = 1; i < team->threads; ++i) {
    const struct member* m = &team->members[i];
    times[0] = m->started < times[0] ? m->started : times[0];
    times[1] = -m->ended < times[1] ? -m->ended : times[1];
  }
  MPI_Allreduce(times, all, 2, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  return -all[1] - all[0];
}

enum { THREADS_CHECKED = 5 };  // iterations of a checked run

static inline void threads_checked_block(struct team* team, int window) {
  threads_block(team, THREADS_CHECKED, true);
  if (team->mode != MODE_SAME || team->rank < team->ranks / 2) return;
  for (int i = 0; i < team->threads; ++i) {
    if (atomic_load(&team->came_from[i]) != THREADS_CHECKED * window) bench_die("messages were lost or came twice");
  }
}

// Microseconds for one iteration of `body` on all threads: the median of the blocks, between two checked runs.
// `window`: messages a thread receives in one iteration.
static inline double threads_measure(struct team* team, threads_body body, size_t size, int window) {
  const struct bench_options* options = &team->options->bench;
  team->body = body;
  team->size = size;
  threads_checked_block(team, window);
  // The scheduler's turns are long against a few iterations, so few do not tell how many fill a block.
  int iterations = 2;
  double took = threads_block(team, iterations, false);
  while (took < options->block_us / 4) {
    iterations *= 4;
    took = threads_block(team, iterations, false);
  }
  iterations = bench_iterations(options, took, iterations);
  double blocks[BENCH_BLOCKS];
  for (int b = 0; b < BENCH_BLOCKS; ++b) blocks[b] = threads_block(team, iterations, false) / iterations;
  threads_checked_block(team, window);
  return bench_median(blocks, BENCH_BLOCKS);
}

// `PROGRAM_MODE.THREADS`; processes count as the threads they replace.
static inline void threads_emit(const struct team* team, const char* program, const char* mode, double value,
                                const char* unit) {
  char name[64];
  const int threads = team->mode == MODE_PROCESSES ? team->ranks / 2 : team->threads;
  snprintf(name, sizeof name, "%s_%s.%d", program, mode, threads);
  if (team->rank == 0) bench_emit(name, team->size, value, unit);
}

// The bytes that thread `index` sends in its window `number`, in a checked run. Where receives are not paired with
// sends, the first byte names the sender alone.
static inline unsigned threads_seed(const struct team* team, int index, int number) {
  return team->mode == MODE_SAME ? (unsigned)index : (unsigned)(index * 31 + number * 7 + 1);
}

// `count` places of `in` after window `number`.
static inline void threads_verify(struct member* me, int number, int count) {
  struct team* team = me->team;
  for (int i = 0; i < count; ++i) {
    const unsigned char* place = me->in + (size_t)i * team->size;
    unsigned seed = threads_seed(team, me->index, number);
    if (team->mode == MODE_SAME) {
      seed = place[0];
      if (seed >= (unsigned)team->threads) bench_die("a message arrived with wrong bytes");
      atomic_fetch_add(&team->came_from[seed], 1);
    }
    bench_check(place, team->size, seed);
  }
}

// The bytes of the largest message, and of the largest window.
static inline size_t threads_largest(const struct threads_options* options) {
  size_t largest = 0;
  for (int i = 0; i < options->bench.size_count; ++i) {
    largest = options->bench.sizes[i] > largest ? options->bench.sizes[i] : largest;
  }
  return largest;
}

static inline size_t threads_places(const struct threads_options* options) {
  size_t largest = 0;
  for (int i = 0; i < options->bench.size_count; ++i) {
    const size_t size = options->bench.sizes[i], all = size * (size_t)window_count(size);
    largest = all > largest ? all : largest;
  }
  return largest;
}

// A window of messages from each thread of the first half of the ranks to its partner, and an answer.
static inline void threads_one_way(struct member* me, int iterations, bool checked) {
  const struct team* team = me->team;
  const int bytes = (int)team->size, count = window_count(team->size);
  const bool sends = team->rank < team->ranks / 2;
  int answer = 0;
  for (int n = 0; n < iterations; ++n) {
    if (sends) {
      if (checked) bench_fill(me->out, team->size, threads_seed(team, me->index, n));
      for (int i = 0; i < count; ++i) {
        MPI_Isend(me->out, bytes, MPI_BYTE, me->peer, me->tag, me->comm, &me->requests[i]);
      }
      MPI_Waitall(count, me->requests, MPI_STATUSES_IGNORE);
      MPI_Recv(&answer, 1, MPI_INT, me->peer, me->answer_tag, me->comm, MPI_STATUS_IGNORE);
      if (answer != n) bench_die("an answer came for another window");
    } else {
      if (checked) memset(me->in, 0xff, team->size * (size_t)count);
      for (int i = 0; i < count; ++i) {
        MPI_Irecv(me->in + (size_t)i * team->size, bytes, MPI_BYTE, me->source, me->tag, me->comm, &me->requests[i]);
      }
      MPI_Waitall(count, me->requests, MPI_STATUSES_IGNORE);
      if (checked) threads_verify(me, n, count);
      MPI_Send(&n, 1, MPI_INT, me->peer, me->answer_tag, me->comm);
    }
  }
}

// The whole of threads_rate and threads_bandwidth.
typedef void (*threads_report)(const struct team* team, const char* mode, double messages, double us);

static inline int threads_windows(int argc, char** argv, const size_t* sizes, int count, threads_report report) {
  const struct threads_options options = threads_parse(argc, argv, "tag,comm,same,any,processes", sizes, count);
  const cpu_set_t allowed = threads_allowed();
  const bool processes = options.modes[MODE_PROCESSES];
  threads_init(&argc, &argv, &options, 2);
  static struct team team;
  for (int c = 0; c < (processes ? 1 : options.count_count); ++c) {
    threads_start(&team, &options, &allowed, processes ? 1 : options.counts[c]);
    if (team.ranks % 2 != 0 || (!processes && team.ranks != 2)) bench_die("2 ranks, or an even number of processes");
    const bool sends = team.rank < team.ranks / 2;
    threads_buffers(&team, sends ? threads_largest(&options) : 1, sends ? 1 : threads_places(&options), WINDOW);
    for (int m = 0; m < MODE_COUNT; ++m) {
      for (int i = 0; options.modes[m] && i < options.bench.size_count; ++i) {
        const int window = window_count(options.bench.sizes[i]);
        threads_route(&team, (enum threads_mode)m);
        const double us = threads_measure(&team, threads_one_way, options.bench.sizes[i], window);
        report(&team, threads_mode_names[m], (double)window * team.threads * (team.ranks / 2), us);
      }
    }
    threads_end(&team);
  }
  MPI_Finalize();
  return 0;
}

#endif
