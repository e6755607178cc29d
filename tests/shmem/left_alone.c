// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Puts wake a PE that sleeps until its memory changes, and leave alone one that sleeps in a barrier: counted by how
// often it gave up the processor by itself. The row makes waits sleep at once.
#include <shmem.h>
#include <sys/resource.h>
#include <unistd.h>

#include "expect.h"

static long times_slept(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nvcsw;
}

int main(void) {
  enum { PUTS = 2000 };
  shmem_init();
  const int me = shmem_my_pe();
  long* word = shmem_calloc(2, sizeof *word);
  shmem_barrier_all();
  if (me == 0) {
    usleep(20000);  // for the other to fall asleep
    for (long i = 1; i <= PUTS; ++i) {
      shmem_long_p(&word[1], i, 1);
      usleep(1);  // it would be asleep again
    }
  }
  const long before = times_slept();
  shmem_barrier_all();
  const long slept = times_slept() - before;
  if (me == 1) EXPECT(slept < PUTS / 4);
  // But this one wakes it.
  if (me == 0) {
    usleep(20000);
    shmem_long_p(word, 1, 1);
  } else {
    shmem_long_wait_until(word, SHMEM_CMP_EQ, 1);
    EXPECT(word[1] == PUTS);
  }
  const int failed = failures();
  shmem_finalize();
  return failed;
}
