// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#ifndef WEFT_TESTS_SHMEM_EXPECT_H
#define WEFT_TESTS_SHMEM_EXPECT_H

// EXPECT(condition): counts and prints what does not hold. A program ends with `return failures();`.

#include <stdio.h>

static int expect_failed;

#define EXPECT(condition)                                                                   \
  do {                                                                                      \
    if (!(condition) && expect_failed++ < 10) {                                             \
      fprintf(stderr, "%s:%d: PE %d: %s\n", __FILE__, __LINE__, shmem_my_pe(), #condition); \
    }                                                                                       \
  } while (0)

static inline int failures(void) {
  return expect_failed != 0;
}

#endif
