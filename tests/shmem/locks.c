// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A counter that is read and written under a lock loses nothing, with waits and with tests for the lock.

#include <shmem.h>

#include "expect.h"

static long static_lock;

static void count_under(long* lock, long* counter, int tests) {
  enum { times = 100 };
  *counter = 0;
  shmem_barrier_all();
  for (int i = 0; i < times; ++i) {
    if (tests) {
      while (shmem_test_lock(lock) != 0) {
      }
    } else {
      shmem_set_lock(lock);
    }
    shmem_long_p(counter, shmem_long_g(counter, 0) + 1, 0);
    shmem_clear_lock(lock);
  }
  shmem_barrier_all();
  if (shmem_my_pe() == 0) EXPECT(*counter == (long)times * shmem_n_pes());
  shmem_barrier_all();
}

int main(void) {
  shmem_init();
  long* locks = shmem_calloc(2, sizeof *locks);
  long* counter = shmem_calloc(1, sizeof *counter);
  for (int tests = 0; tests < 2; ++tests) {
    count_under(&locks[0], counter, tests);
    count_under(&locks[1], counter, tests);
    count_under(&static_lock, counter, tests);
  }
  if (shmem_my_pe() == 0) shmem_set_lock(&locks[0]);
  shmem_barrier_all();
  if (shmem_my_pe() != 0) EXPECT(shmem_test_lock(&locks[0]) == 1);
  shmem_barrier_all();
  if (shmem_my_pe() == 0) shmem_clear_lock(&locks[0]);
  const int failed = failures();
  shmem_finalize();
  return failed;
}
