// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A word and a block go to the next PE's heap and come back; static data likewise.

#include <shmem.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

static long statically[4];

int main(void) {
  shmem_init();
  const int me = shmem_my_pe();
  const int pes = shmem_n_pes();
  const int next = (me + 1) % pes;
  const int before = (me + pes - 1) % pes;

  long* word = shmem_malloc(sizeof *word);
  char* block = shmem_malloc(100000);
  EXPECT(word != NULL && block != NULL);
  *word = -1;
  memset(block, 0, 100000);
  shmem_barrier_all();

  char* mine = malloc(100000);
  char* back = malloc(100000);
  for (int i = 0; i < 100000; ++i) mine[i] = (char)(i * 7 + me);
  shmem_long_p(word, 100 + me, next);
  shmem_putmem(block, mine, 100000, next);
  shmem_long_p(&statically[1], 200 + me, next);
  shmem_putmem(&statically[2], mine, 8, next);
  shmem_barrier_all();
  EXPECT(*word == 100 + before);
  EXPECT(statically[0] == 0 && statically[1] == 200 + before);
  for (int i = 0; i < 100000; ++i) EXPECT(block[i] == (char)(i * 7 + before));
  EXPECT(memcmp(&statically[2], block, 8) == 0);

  shmem_getmem(back, block, 100000, next);
  EXPECT(memcmp(back, mine, 100000) == 0);
  EXPECT(shmem_long_g(word, next) == 100 + me);
  EXPECT(shmem_long_g(&statically[1], next) == 200 + me);
  shmem_barrier_all();
  free(mine);
  free(back);
  shmem_free(block);
  shmem_free(word);
  const int failed = failures();
  shmem_finalize();
  return failed;
}
