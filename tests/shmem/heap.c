// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The symmetric heap: the same offsets on all PEs, alignment, contents kept by realloc, and its end.

#include <shmem.h>
#include <string.h>

#include "expect.h"

// A word that one PE writes through its own address is where the others look for it.
static void is_symmetric(long* word) {
  const int me = shmem_my_pe(), pes = shmem_n_pes(), next = (me + 1) % pes;
  *word = me;
  shmem_barrier_all();
  EXPECT(shmem_long_g(word, next) == next);
  shmem_barrier_all();
}

int main(void) {
  shmem_init();
  EXPECT(shmem_malloc(0) == NULL && shmem_calloc(0, 8) == NULL && shmem_align(64, 0) == NULL);
  shmem_free(NULL);
  long* first = shmem_malloc(100);
  long* second = shmem_malloc(1);
  is_symmetric(first);
  is_symmetric(second);
  for (size_t alignment = 8; alignment <= (2 << 20); alignment *= 2) {
    long* aligned = shmem_align(alignment, 8);
    EXPECT(aligned != NULL && (uintptr_t)aligned % alignment == 0);
    is_symmetric(aligned);
    shmem_free(aligned);
  }
  EXPECT(shmem_align((size_t)1 << 40, 8) == NULL);
  unsigned char* zeros = shmem_calloc(1000, 3);
  for (int i = 0; i < 3000; ++i) EXPECT(zeros[i] == 0);
  memset(zeros, 5, 3000);
  shmem_free(zeros);
  zeros = shmem_calloc(1000, 3);
  for (int i = 0; i < 3000; ++i) EXPECT(zeros[i] == 0);
  memset(zeros, 7, 3000);
  char* behind = shmem_malloc(10);
  unsigned char* moved = shmem_realloc(zeros, 100000);
  EXPECT(moved != NULL && moved[0] == 7 && moved[2999] == 7);
  moved = shmem_realloc(moved, 100);
  EXPECT(moved[99] == 7);
  EXPECT(shmem_realloc(moved, 0) == NULL);
  EXPECT(shmem_malloc((size_t)1 << 45) == NULL && shmem_realloc(behind, (size_t)1 << 45) == NULL);
  EXPECT(shmem_malloc(SIZE_MAX) == NULL && shmem_calloc(SIZE_MAX, 16) == NULL);
  shmem_free(behind);
  shmem_free(second);
  shmem_free(first);
  // Everything is free again: as much as the heap has.
  char* whole = shmem_malloc(4 << 20);
  EXPECT(whole != NULL);
  EXPECT(shmem_malloc(1) == NULL);
  shmem_putmem(whole + (4 << 20) - 8, &whole, 8, (shmem_my_pe() + 1) % shmem_n_pes());
  shmem_free(whole);
  const int failed = failures();
  shmem_finalize();
  return failed;
}
