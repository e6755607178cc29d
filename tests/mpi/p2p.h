// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#ifndef WEFT_TESTS_MPI_P2P_H
#define WEFT_TESTS_MPI_P2P_H

// Common parts of the point-to-point programs: expectations, which decide the exit status, and data that can be
// checked.

#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters.h"

static int failures, me, ranks;

__attribute__((format(printf, 3, 4), unused)) static void failed(const char* file, int line, const char* format, ...) {
  if (++failures > 20) return;
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fprintf(stderr, "rank %d: %s:%d: %s\n", me, file, line, text);
}

#define EXPECT(condition)                                           \
  do {                                                              \
    if (!(condition)) failed(__FILE__, __LINE__, "%s", #condition); \
  } while (0)
#define EXPECT_INT(call, wanted)                                                                       \
  do {                                                                                                 \
    long long is_value = (long long)(call), wanted_value = (long long)(wanted);                        \
    if (is_value != wanted_value)                                                                      \
      failed(__FILE__, __LINE__, "%s is %lld, not %lld (%s)", #call, is_value, wanted_value, #wanted); \
  } while (0)
#define OK(call) EXPECT_CLASS(call, MPI_SUCCESS)
#define EXPECT_CLASS(call, wanted)                                                                          \
  do {                                                                                                      \
    int is_class = class_of(call);                                                                          \
    if (is_class != (wanted)) failed(__FILE__, __LINE__, "%s: class %d, not %s", #call, is_class, #wanted); \
  } while (0)

__attribute__((unused)) static int class_of(int error) {
  int error_class = MPI_SUCCESS;
  if (error != MPI_SUCCESS) MPI_Error_class(error, &error_class);
  return error_class;
}

__attribute__((unused)) static void start(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  counters_start();
}

__attribute__((unused)) static int finish(void) {
  failures += counters_failed();
  MPI_Finalize();
  if (failures > 20) fprintf(stderr, "rank %d: %d failures in all\n", me, failures);
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

// Counts in rows with the label `timing` alone, which run with nothing beside them; .ci/nightly gathers the lines.
__attribute__((unused)) static void expect_at_most(const char* name, double value, double limit) {
  printf("timing: %s: %.6g, at most %.6g\n", name, value, limit);
  if (getenv("TEST_TIMING") != NULL && value > limit) {
    failed(__FILE__, __LINE__, "%s: %g is more than %g", name, value, limit);
  }
}

// Data that differs at every place and for every message.
__attribute__((unused)) static unsigned char byte_at(uint64_t salt, int64_t i) {
  return (unsigned char)((uint64_t)i * 131 + ((uint64_t)i >> 8) * 7 + ((uint64_t)i >> 16) + salt * 57 + (salt >> 8));
}
__attribute__((unused)) static void fill(void* data, int64_t bytes, uint64_t salt) {
  unsigned char* at = data;
  for (int64_t i = 0; i < bytes; ++i) at[i] = byte_at(salt, i);
}
// Index of the first wrong byte, -1 when all are right.
__attribute__((unused)) static int64_t wrong_at(const void* data, int64_t bytes, uint64_t salt) {
  const unsigned char* at = data;
  for (int64_t i = 0; i < bytes; ++i) {
    if (at[i] != byte_at(salt, i)) return i;
  }
  return -1;
}

// The fields of an empty status (MPI-5.0, 3.7.3) and what MPI_PROC_NULL gives (3.10).
__attribute__((unused)) static int is_empty(const MPI_Status* s) {
  int count = -1, cancelled = 1;
  MPI_Get_count(s, MPI_BYTE, &count);
  MPI_Test_cancelled(s, &cancelled);
  return s->MPI_SOURCE == MPI_ANY_SOURCE && s->MPI_TAG == MPI_ANY_TAG && count == 0 && !cancelled;
}
__attribute__((unused)) static int is_from_nobody(const MPI_Status* s) {
  int count = -1;
  MPI_Get_count(s, MPI_BYTE, &count);
  return s->MPI_SOURCE == MPI_PROC_NULL && s->MPI_TAG == MPI_ANY_TAG && count == 0;
}
__attribute__((unused)) static int is_message(const MPI_Status* s, int source, int tag, int64_t bytes) {
  MPI_Count count = -1;
  MPI_Get_count_c(s, MPI_BYTE, &count);
  return s->MPI_SOURCE == source && s->MPI_TAG == tag && count == bytes;
}
// A status that a call must overwrite.
__attribute__((unused)) static MPI_Status dirty(void) {
  MPI_Status s;
  memset(&s, 0x5a, sizeof s);
  return s;
}

#endif
