// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Expectations of MPI test programs: each failed one prints where, and the program's exit status says whether any
// failed.

#include <mpi.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "counters.h"

namespace expect {

inline std::atomic<int> failures = 0;  // of all threads
inline int rank = 0;
inline int size = 1;

inline void start(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  counters_start();
}

[[gnu::format(printf, 4, 5)]] inline void fail(const char* file, int line, const char* what, const char* format, ...) {
  if (++failures > 20) return;
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fprintf(stderr, "rank %d: %s:%d: %s: %s\n", rank, file, line, what, text);
}

// The exit status of the program.
inline int finish() {
  failures += counters_failed();
  MPI_Finalize();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

// Whether times, shares of a processor and memory count: in rows with the label `timing`, which run with nothing beside
// them. Elsewhere what is measured is printed only.
inline bool judges_times() {
  return getenv("TEST_TIMING") != nullptr;
}

// .ci/nightly gathers these lines.
inline void at_most(const char* file, int line, const char* name, double value, double limit) {
  printf("timing: %s: %.6g, at most %.6g\n", name, value, limit);
  if (judges_times() && value > limit) fail(file, line, name, "%g is more than %g", value, limit);
}

inline int class_of(int error) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(error, &error_class);
  return error_class;
}

}  // namespace expect

// The text says with what the expectation failed: a format and its arguments.
#define EXPECT(condition, ...)                                                   \
  do {                                                                           \
    if (!(condition)) expect::fail(__FILE__, __LINE__, #condition, __VA_ARGS__); \
  } while (0)

#define EXPECT_AT_MOST(name, value, limit) expect::at_most(__FILE__, __LINE__, name, value, limit)

#define EXPECT_CLASS(call, wanted)                                                                         \
  do {                                                                                                     \
    int is_class = expect::class_of(call);                                                                 \
    if (is_class != (wanted)) expect::fail(__FILE__, __LINE__, #call, "class %d, not " #wanted, is_class); \
  } while (0)
