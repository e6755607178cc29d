// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A program that takes the place of shmem_long_p, and reaches the library's as pshmem_long_p.

#include <pshmem.h>

#include "expect.h"

static int calls;

void shmem_long_p(long* dest, long value, int pe) {
  ++calls;
  pshmem_long_p(dest, value + 1, pe);
}

int main(void) {
  shmem_init();
  long* word = shmem_calloc(1, sizeof *word);
  shmem_long_p(word, 4, (shmem_my_pe() + 1) % shmem_n_pes());
  shmem_pcontrol(1, "more");
  shmem_barrier_all();
  EXPECT(*word == 5 && calls == 1);
  const int failed = failures();
  shmem_finalize();
  return failed;
}
