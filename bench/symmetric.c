// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// It counts as calls.c does, for calls of OpenSHMEM on a word of the other PE's heap.
//   symmetric N [--multiple]
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 16 };

#define COUNTED static __attribute__((noinline))

COUNTED void count_p(long* there, int pe) {
  for (int i = 0; i < BATCH; ++i) shmem_long_p(&there[i], i, pe);
}
COUNTED void count_g(const long* there, int pe) {
  for (int i = 0; i < BATCH; ++i) (void)shmem_long_g(&there[i], pe);
}
COUNTED void count_put(long* there, const long* data, int pe) {
  for (int i = 0; i < BATCH; ++i) shmem_putmem(&there[i], &data[i], 8, pe);
}
COUNTED void count_get(const long* there, long* data, int pe) {
  for (int i = 0; i < BATCH; ++i) shmem_getmem(&data[i], &there[i], 8, pe);
}
COUNTED void count_add(long* there, int pe) {
  for (int i = 0; i < BATCH; ++i) (void)shmem_long_atomic_fetch_add(&there[i], 1, pe);
}
COUNTED void count_swap(long* there, int pe) {
  for (int i = 0; i < BATCH; ++i) (void)shmem_long_atomic_compare_swap(&there[i], 1, 2, pe);
}
COUNTED void count_on(shmem_ctx_t ctx, long* there, int pe) {
  for (int i = 0; i < BATCH; ++i) shmem_ctx_long_p(ctx, &there[i], i, pe);
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 0;
  const int multiple = argc > 2 && strcmp(argv[2], "--multiple") == 0;
  int provided;
  if (rounds < 1) {
    fprintf(stderr, "usage: symmetric ROUNDS [--multiple]\n");
    return 2;
  }
  shmem_init_thread(multiple ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE, &provided);
  if (multiple && provided != SHMEM_THREAD_MULTIPLE) return 77;
  const int other = 1 - shmem_my_pe();
  long data[BATCH] = {0};
  long* there = shmem_calloc(BATCH, sizeof *there);
  shmem_ctx_t ctx;
  shmem_ctx_create(0, &ctx);
  for (int n = 0; shmem_my_pe() == 0 && n < rounds; ++n) {
    for (int i = 0; i < BATCH; ++i) data[i] = (long)n * BATCH + i;
    count_p(there, other);
    count_g(there, other);
    count_add(there, other);
    count_swap(there, other);
    count_on(ctx, there, other);
    count_put(there, data, other);
    memset(data, 0, sizeof data);
    count_get(there, data, other);
    if (data[BATCH - 1] != (long)n * BATCH + BATCH - 1) {
      fprintf(stderr, "symmetric: a get brought wrong bytes\n");
      return 1;
    }
  }
  shmem_finalize();
  return 0;
}
