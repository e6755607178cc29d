// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A PE waits for another one by reads of its own memory in a loop, with no call that waits: the reads make progress, so
// that what the other one does there by messages happens.

#include <shmem.h>

#include "expect.h"

static long static_word;

static void poll_by_each_kind_of_read(long* word) {
  const int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
  long value = 0;
  shmem_long_atomic_set(word, 1, next);
  while (shmem_long_atomic_fetch(word, me) != 1) continue;
  shmem_barrier_all();
  shmem_long_p(word, 2, next);
  while (shmem_long_g(word, me) != 2) continue;
  shmem_barrier_all();
  shmem_long_atomic_add(word, 1, next);
  while (shmem_long_atomic_compare_swap(word, 3, 4, me) != 3) continue;
  shmem_barrier_all();
  shmem_long_atomic_inc(word, next);
  while (shmem_long_atomic_fetch_add(word, 0, me) != 5) continue;
  shmem_barrier_all();
  shmem_long_put(word, &(long){6}, 1, next);
  while (value != 6) shmem_getmem(&value, word, sizeof value, me);
  shmem_barrier_all();
  EXPECT(*word == 6);
}

int main(void) {
  shmem_init();
  long* word = shmem_calloc(1, sizeof *word);
  poll_by_each_kind_of_read(&static_word);
  poll_by_each_kind_of_read(word);
  const int failed = failures();
  shmem_finalize();
  return failed;
}
