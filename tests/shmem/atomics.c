// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Atomic operations on the heap and on static data: their results, and that none is lost when all PEs update one word.

#include <shmem.h>

#include "expect.h"

static int me, pes, next;
static long static_long;
static unsigned static_uint;
static double static_double;

// Each PE works on a word of the next.
static void results(long* word, unsigned* bits, double* number) {
  *word = 5, *bits = 0xf0, *number = 1.5;
  shmem_barrier_all();
  EXPECT(shmem_long_atomic_fetch(word, next) == 5);
  EXPECT(shmem_long_atomic_fetch_add(word, 10, next) == 5);
  EXPECT(shmem_long_atomic_fetch_inc(word, next) == 15);
  shmem_long_atomic_add(word, -6, next);
  shmem_long_atomic_inc(word, next);
  EXPECT(shmem_long_atomic_compare_swap(word, 12, 1, next) == 11);
  EXPECT(shmem_long_atomic_compare_swap(word, 11, 40, next) == 11);
  EXPECT(shmem_long_atomic_swap(word, 50, next) == 40);
  shmem_long_atomic_set(word, 60, next);
  EXPECT(shmem_uint_atomic_fetch_or(bits, 0x0f, next) == 0xf0);
  EXPECT(shmem_uint_atomic_fetch_and(bits, 0x3c, next) == 0xff);
  EXPECT(shmem_uint_atomic_fetch_xor(bits, 0xff, next) == 0x3c);
  shmem_uint_atomic_or(bits, 0x100, next);
  shmem_uint_atomic_and(bits, 0x1c0, next);
  shmem_uint_atomic_xor(bits, 1, next);
  EXPECT(shmem_double_atomic_swap(number, 2.5, next) == 1.5);
  EXPECT(shmem_double_atomic_fetch(number, next) == 2.5);
  shmem_double_atomic_set(number, 3.5, next);
  long fetched[6] = {0};
  unsigned fetched_bits = 0;
  shmem_long_atomic_fetch_nbi(&fetched[0], word, next);
  shmem_long_atomic_fetch_add_nbi(&fetched[1], word, 1, next);
  shmem_long_atomic_fetch_inc_nbi(&fetched[2], word, next);
  shmem_long_atomic_swap_nbi(&fetched[3], word, 70, next);
  shmem_long_atomic_compare_swap_nbi(&fetched[4], word, 70, 71, next);
  shmem_uint_atomic_fetch_xor_nbi(&fetched_bits, bits, 0, next);
  shmem_quiet();
  EXPECT(fetched[0] == 60 && fetched[1] == 60 && fetched[2] == 61 && fetched[3] == 62 && fetched[4] == 70);
  EXPECT(fetched_bits == 0x1c1);
  shmem_barrier_all();
  EXPECT(*word == 71 && *bits == 0x1c1 && *number == 3.5);
  shmem_barrier_all();
}

static void none_is_lost(long* word) {
  enum { times = 2000 };
  *word = 0;
  shmem_barrier_all();
  long sum = 0;
  for (int i = 0; i < times; ++i) {
    if (i % 2 == 0) shmem_long_atomic_inc(word, 0);
    if (i % 2 == 1) sum += shmem_long_atomic_fetch_add(word, 1, 0) >= 0;
  }
  EXPECT(sum == times / 2);
  shmem_barrier_all();
  if (me == 0) EXPECT(*word == (long)times * pes);
  shmem_barrier_all();
}

int main(void) {
  shmem_init();
  me = shmem_my_pe();
  pes = shmem_n_pes();
  next = (me + 1) % pes;
  long* word = shmem_malloc(sizeof *word);
  unsigned* bits = shmem_malloc_with_hints(sizeof *bits, SHMEM_MALLOC_ATOMICS_REMOTE);
  double* number = shmem_malloc(sizeof *number);
  results(word, bits, number);
  results(&static_long, &static_uint, &static_double);
  none_is_lost(word);
  none_is_lost(&static_long);
  const int failed = failures();
  shmem_finalize();
  return failed;
}
