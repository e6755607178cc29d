// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The limits of this machine, with two pinned threads and no MPI. A library on shared memory cannot beat these:
//   limit_line      us    time for one cache line to go from core to core, half a round trip
//   limit_stream    M/s   cache lines per second through a ring, one written word and one read word per line
//   limit_handoff   us    waking another thread on the same core through a futex: the least a blocking hand-over costs
//   limit_copy      MB/s  memcpy from one buffer to another, again and again
//   limit_window    MB/s  memcpy from one buffer to the places of a window, as the bandwidth programs receive
//   limit_vm_read   MB/s  process_vm_readv from another process: single copy through the kernel
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

enum { LINE = 64, RING = 1024, CREDIT = 64, WINDOW_BYTES = 16 << 20 };

static int cores[2];  // equal when there is only one

static void find_cores(void) {
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  int found = 0;
  for (int c = 0; c < CPU_SETSIZE && found < 2; ++c) {
    if (CPU_ISSET(c, &allowed)) cores[found++] = c;
  }
  if (found == 1) cores[1] = cores[0];
}

static void pin(int core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

struct line {
  _Alignas(LINE) _Atomic uint64_t sequence;
  uint64_t payload;
};

struct shared {
  struct line ping, pong, ring[RING];
  _Alignas(LINE) _Atomic uint64_t consumed;
  _Alignas(LINE) _Atomic uint32_t turn;
  uint64_t iterations;
  double blocks[BENCH_BLOCKS];
};

static struct shared shared;

static void await(_Atomic uint64_t* word, uint64_t value) {
  while (atomic_load_explicit(word, memory_order_acquire) < value) {
  }
}

// --- one line there and back ---

static void* line_peer(void* unused) {
  (void)unused;
  pin(cores[1]);
  for (uint64_t i = 1; i <= shared.iterations * BENCH_BLOCKS; ++i) {
    await(&shared.ping.sequence, i);
    atomic_store_explicit(&shared.pong.sequence, i, memory_order_release);
  }
  return NULL;
}

static void line_here(void) {
  uint64_t i = 0;
  for (int b = 0; b < BENCH_BLOCKS; ++b) {
    const double start = bench_now_us();
    for (uint64_t end = i + shared.iterations; i < end;) {
      atomic_store_explicit(&shared.ping.sequence, ++i, memory_order_release);
      await(&shared.pong.sequence, i);
    }
    shared.blocks[b] = (bench_now_us() - start) / (2.0 * (double)shared.iterations);
  }
}

// --- lines one after the other ---

static void* stream_peer(void* unused) {
  (void)unused;
  pin(cores[1]);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < shared.iterations * BENCH_BLOCKS; ++i) {
    struct line* line = &shared.ring[i % RING];
    await(&line->sequence, i + 1);
    sum += line->payload;
    if ((i + 1) % CREDIT == 0) atomic_store_explicit(&shared.consumed, i + 1, memory_order_release);
  }
  return (void*)(uintptr_t)sum;
}

static void stream_here(void) {
  uint64_t i = 0, seen = 0;
  for (int b = 0; b < BENCH_BLOCKS; ++b) {
    const double start = bench_now_us();
    for (uint64_t end = i + shared.iterations; i < end; ++i) {
      while (i - seen >= RING) seen = atomic_load_explicit(&shared.consumed, memory_order_acquire);
      struct line* line = &shared.ring[i % RING];
      line->payload = i;
      atomic_store_explicit(&line->sequence, i + 1, memory_order_release);
    }
    shared.blocks[b] = (double)shared.iterations / (bench_now_us() - start);
  }
}

// --- the futex ---

static void pass_turn(uint32_t mine, uint64_t times) {
  for (uint64_t i = 0; i < times; ++i) {
    while (atomic_load(&shared.turn) != mine) syscall(SYS_futex, &shared.turn, FUTEX_WAIT, 1 - mine, NULL, NULL, 0);
    atomic_store(&shared.turn, 1 - mine);
    syscall(SYS_futex, &shared.turn, FUTEX_WAKE, 1, NULL, NULL, 0);
  }
}

static void* handoff_peer(void* unused) {
  (void)unused;
  pin(cores[0]);
  pass_turn(1, shared.iterations * BENCH_BLOCKS);
  return NULL;
}

static void handoff_here(void) {
  for (int b = 0; b < BENCH_BLOCKS; ++b) {
    const double start = bench_now_us();
    pass_turn(0, shared.iterations);
    shared.blocks[b] = (bench_now_us() - start) / (2.0 * (double)shared.iterations);
  }
}

static void measure_pair(const char* name, const char* unit, uint64_t iterations, void* (*peer)(void*),
                         void (*here)(void)) {
  pthread_t thread;
  memset(&shared, 0, sizeof shared);
  shared.iterations = iterations;
  pin(cores[0]);
  if (pthread_create(&thread, NULL, peer, NULL) != 0) bench_die("cannot start a thread");
  here();
  pthread_join(thread, NULL);
  bench_emit(name, 8, bench_median(shared.blocks, BENCH_BLOCKS), unit);
}

// --- copies ---

static void copy_once(unsigned char* to, const unsigned char* from, size_t size) {
  memcpy(to, from, size);
  __asm__ volatile("" : : "r"(to) : "memory");  // or the compiler drops a copy that nobody reads
}

static void measure_copy(const char* name, unsigned char* to, const unsigned char* from, size_t size, size_t places,
                         const struct bench_options* options) {
  double blocks[BENCH_BLOCKS];
  const double tried = bench_now_us();
  for (size_t i = 0; i < places; ++i) copy_once(to + i * size, from, size);
  const int rounds = bench_iterations(options, bench_now_us() - tried, 1);
  for (int b = 0; b < BENCH_BLOCKS; ++b) {
    const double start = bench_now_us();
    for (int r = 0; r < rounds; ++r) {
      for (size_t i = 0; i < places; ++i) copy_once(to + i * size, from, size);
    }
    blocks[b] = (double)rounds * (double)(places * size) / (bench_now_us() - start);
  }
  bench_emit(name, size, bench_median(blocks, BENCH_BLOCKS), "MB/s");
}

// Another process with pages of its own at the same address; it sleeps until it is killed.
static pid_t start_owner(unsigned char* pages, size_t bytes) {
  int ready[2];
  if (pipe(ready) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    memset(pages, 2, bytes);
    if (write(ready[1], "", 1) != 1) _exit(1);
    for (;;) pause();
  }
  char byte;
  const int arrived = child > 0 && read(ready[0], &byte, 1) == 1;
  close(ready[0]);
  close(ready[1]);
  return arrived ? child : -1;
}

static int read_once(pid_t owner, unsigned char* to, unsigned char* from, size_t size) {
  struct iovec here = {to, size}, there = {from, size};
  return process_vm_readv(owner, &here, 1, &there, 1, 0) == (ssize_t)size;
}

static void measure_vm_read(pid_t owner, unsigned char* to, unsigned char* from, size_t size,
                            const struct bench_options* options) {
  double blocks[BENCH_BLOCKS];
  if (owner < 0 || !read_once(owner, to, from, size)) return;  // no permission on this machine: no line
  const double tried = bench_now_us();
  read_once(owner, to, from, size);
  const int rounds = bench_iterations(options, bench_now_us() - tried, 1);
  for (int b = 0; b < BENCH_BLOCKS; ++b) {
    const double start = bench_now_us();
    for (int r = 0; r < rounds; ++r) read_once(owner, to, from, size);
    blocks[b] = (double)rounds * (double)size / (bench_now_us() - start);
  }
  bench_emit("limit_vm_read", size, bench_median(blocks, BENCH_BLOCKS), "MB/s");
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {64, 256, 1024, 4096, 8192, 16384, 65536, 262144, 1048576, 4194304};
  struct bench_options options = bench_parse(argc, argv, sizes, sizeof sizes / sizeof *sizes);
  options.block_us /= 4;  // three kinds of copies at every size
  find_cores();
  if (cores[0] != cores[1]) {
    measure_pair("limit_line", "us", (uint64_t)(options.block_us * 10), line_peer, line_here);
    measure_pair("limit_stream", "M/s", (uint64_t)(options.block_us * 40), stream_peer, stream_here);
  }
  measure_pair("limit_handoff", "us", (uint64_t)(options.block_us / 2), handoff_peer, handoff_here);

  unsigned char *from = bench_buffer(sizes[sizeof sizes / sizeof *sizes - 1]), *to = bench_buffer(WINDOW_BYTES);
  const pid_t owner = start_owner(from, sizes[sizeof sizes / sizeof *sizes - 1]);
  for (int i = 0; i < options.size_count; ++i) {
    const size_t size = options.sizes[i];
    if (size == 0 || size > sizes[sizeof sizes / sizeof *sizes - 1]) continue;
    const size_t places = WINDOW_BYTES / size;
    measure_copy("limit_copy", to, from, size, 1, &options);
    measure_copy("limit_window", to, from, size, places < 64 ? places : 64, &options);
    measure_vm_read(owner, to, from, size, &options);
  }
  if (owner > 0) {
    kill(owner, SIGKILL);
    waitpid(owner, NULL, 0);
  }
  return 0;
}
