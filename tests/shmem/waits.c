// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Waits and tests: PE 0 collects words that the others write, by each form of wait.

#include <shmem.h>
#include <stdlib.h>

#include "expect.h"

static int me, pes;
static long static_word;

static void all_of_them(long* words) {
  for (int round = 1; round <= 4; ++round) {
    if (me != 0) shmem_long_p(&words[me], round, 0);
    if (me == 0) {
      words[0] = round;
      if (round == 1) shmem_long_wait_until_all(words, (size_t)pes, NULL, SHMEM_CMP_EQ, round);
      if (round == 2) {
        long* values = malloc((size_t)pes * sizeof *values);
        for (int i = 0; i < pes; ++i) values[i] = round;
        shmem_long_wait_until_all_vector(words, (size_t)pes, NULL, SHMEM_CMP_GE, values);
        free(values);
      }
      if (round == 3) {
        while (!shmem_long_test_all(words, (size_t)pes, NULL, SHMEM_CMP_EQ, round)) {
        }
      }
      if (round == 4) {
        for (int i = 0; i < pes; ++i) shmem_long_wait_until(&words[i], SHMEM_CMP_EQ, round);
      }
      for (int i = 0; i < pes; ++i) EXPECT(words[i] == round);
    }
    shmem_barrier_all();
  }
}

// `how`: wait for any, for some, test any, test some; each word once.
static void each_once(long* words, int how) {
  for (int i = 0; i < pes; ++i) words[i] = 0;
  shmem_barrier_all();
  shmem_long_atomic_set(&words[me], me + 1, 0);
  if (me == 0) {
    int* taken = calloc((size_t)pes, sizeof *taken);
    size_t* indices = malloc((size_t)pes * sizeof *indices);
    for (size_t left = (size_t)pes; left != 0;) {
      size_t found = 1;
      if (how == 0) indices[0] = shmem_long_wait_until_any(words, (size_t)pes, taken, SHMEM_CMP_GT, 0);
      if (how == 1) found = shmem_long_wait_until_some(words, (size_t)pes, indices, taken, SHMEM_CMP_NE, 0);
      if (how == 2) {
        indices[0] = shmem_long_test_any(words, (size_t)pes, taken, SHMEM_CMP_GT, 0);
        found = indices[0] != SIZE_MAX;
      }
      if (how == 3) found = shmem_long_test_some(words, (size_t)pes, indices, taken, SHMEM_CMP_GT, 0);
      EXPECT(found <= left);
      for (size_t i = 0; i < found; ++i, --left) {
        EXPECT(indices[i] < (size_t)pes && taken[indices[i]] == 0 && words[indices[i]] == (long)indices[i] + 1);
        taken[indices[i]] = 1;
      }
    }
    EXPECT(shmem_long_wait_until_any(words, (size_t)pes, taken, SHMEM_CMP_GT, 0) == SIZE_MAX);
    EXPECT(shmem_long_wait_until_some(words, (size_t)pes, indices, taken, SHMEM_CMP_GT, 0) == 0);
    free(taken);
    free(indices);
  }
  shmem_barrier_all();
}

// A wait for a store that no call makes: through a pointer of shmem_ptr.
static void by_pointer(long* word) {
  *word = 0;
  shmem_barrier_all();
  const int next = (me + 1) % pes;
  long* there = shmem_ptr(word, next);
  if (there != NULL) {
    __atomic_store_n(there, 9, __ATOMIC_RELEASE);
  } else {
    shmem_long_p(word, 9, next);
  }
  shmem_long_wait_until(word, SHMEM_CMP_EQ, 9);
  shmem_barrier_all();
}

// A token goes round several times; most PEs sleep meanwhile.
static void token(long* word) {
  *word = 0;
  shmem_barrier_all();
  const int next = (me + 1) % pes;
  for (long round = 1; round <= 50; ++round) {
    if (me == 0) shmem_long_p(word, round, next);
    shmem_long_wait_until(word, SHMEM_CMP_GE, round);
    if (me != 0) shmem_long_p(word, round, next);
  }
  shmem_barrier_all();
}

int main(void) {
  shmem_init();
  me = shmem_my_pe();
  pes = shmem_n_pes();
  long* words = shmem_calloc((size_t)pes, sizeof *words);
  all_of_them(words);
  for (int how = 0; how < 4; ++how) each_once(words, how);
  by_pointer(words);
  token(words);
  token(&static_word);
  EXPECT(shmem_int_test_any(NULL, 0, NULL, SHMEM_CMP_EQ, 0) == SIZE_MAX);
  EXPECT(shmem_int_test_all(NULL, 0, NULL, SHMEM_CMP_EQ, 0) == 1);
  const int failed = failures();
  shmem_finalize();
  return failed;
}
