// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Atomic operations of 8 bytes at rank 1, each with a flush: MPI_Fetch_and_op, MPI_Compare_and_swap, MPI_Accumulate;
// MPI_Accumulate of 4096 bytes, and of 64 KiB and 1 MiB of int, double and char.
#include "onesided.h"

static int64_t counted;  // what all of them have added

static void fetch_and_op(struct onesided* o, size_t size, int iterations) {
  const int64_t one = 1;
  (void)size;
  for (int i = 0; i < iterations; ++i) {
    int64_t found = -1;
    MPI_Fetch_and_op(&one, &found, MPI_INT64_T, 1, 0, MPI_SUM, o->window);
    MPI_Win_flush(1, o->window);
    if (found != counted++) bench_die("an addition was lost");
  }
}

static void compare_and_swap(struct onesided* o, size_t size, int iterations) {
  (void)size;
  for (int i = 0; i < iterations; ++i) {
    const int64_t next = counted + 1;
    int64_t found = -1;
    MPI_Compare_and_swap(&next, &counted, &found, MPI_INT64_T, 1, 0, o->window);
    MPI_Win_flush(1, o->window);
    if (found != counted++) bench_die("a swap was lost");
  }
}

enum { LARGEST = 4096, ARRAY = 1 << 20 };

// Arrays: each type has a part of the window of its own, behind the first LARGEST bytes.
static const struct {
  const char* name;
  MPI_Datatype type;
  size_t size;
} kinds[] = {{"accumulate_int", MPI_INT, sizeof(int)},
             {"accumulate_double", MPI_DOUBLE, sizeof(double)},
             {"accumulate_char", MPI_SIGNED_CHAR, sizeof(signed char)}};
enum { KINDS = sizeof kinds / sizeof *kinds };
static int kind;           // of the array that is added to
static int64_t rounds[2];  // how often ones were added to its beginning, and to all of it

static void add_array(struct onesided* o, size_t size, int iterations) {
  const int count = (int)(size / kinds[kind].size);
  for (int i = 0; i < iterations; ++i) {
    MPI_Accumulate(o->mine, count, kinds[kind].type, 1, LARGEST + kind * (MPI_Aint)ARRAY, count, kinds[kind].type,
                   MPI_SUM, o->window);
    MPI_Win_flush(1, o->window);
  }
  rounds[0] += iterations;
  if (size == ARRAY) rounds[1] += iterations;
}

static void fill_with_ones(unsigned char* bytes) {
  for (size_t i = 0; i < ARRAY / kinds[kind].size; ++i) {
    if (kind == 0) memcpy(bytes + i * sizeof(int), &(int){1}, sizeof(int));
    if (kind == 1) memcpy(bytes + i * sizeof(double), &(double){1}, sizeof(double));
    if (kind == 2) bytes[i] = 1;
  }
}

static int64_t element(const unsigned char* bytes) {
  int number;
  double real;
  memcpy(&number, bytes, sizeof number);
  memcpy(&real, bytes, sizeof real);
  return kind == 0 ? number : kind == 1 ? (int64_t)real : *bytes;
}

static void measure_arrays(struct onesided* o, const struct bench_options* options) {
  for (kind = 0; kind < KINDS; ++kind) {
    memset(rounds, 0, sizeof rounds);
    fill_with_ones(o->mine);
    const double small_us = onesided_measure(o, add_array, ARRAY / 16, options);
    const double large_us = onesided_measure(o, add_array, ARRAY, options);
    if (o->rank == 0) {
      bench_emit(kinds[kind].name, ARRAY / 16, small_us, "us");
      bench_emit(kinds[kind].name, ARRAY, large_us, "us");
    }
    MPI_Bcast(rounds, 2, MPI_INT64_T, 0, MPI_COMM_WORLD);
    const int64_t mask = kind == 2 ? 255 : INT32_MAX;
    const unsigned char* array = o->memory + LARGEST + (size_t)kind * ARRAY;
    if (o->rank == 1 &&
        (element(array) != (rounds[0] & mask) || element(array + ARRAY - kinds[kind].size) != (rounds[1] & mask)))
      bench_die("elements were not added");
  }
}

static void accumulate(struct onesided* o, size_t size, int iterations) {
  const int count = (int)(size / sizeof(int64_t));
  for (int i = 0; i < iterations; ++i) {
    MPI_Accumulate(o->mine, count, MPI_INT64_T, 1, 0, count, MPI_INT64_T, MPI_SUM, o->window);
    MPI_Win_flush(1, o->window);
    ++counted;
  }
}

int main(int argc, char** argv) {
  const struct bench_options options = bench_parse(argc, argv, NULL, 0);
  struct onesided o;
  onesided_start(&o, &argc, &argv, LARGEST + KINDS * ARRAY);
  memset(o.memory, 0, LARGEST + KINDS * ARRAY);
  for (size_t i = 0; i < LARGEST / sizeof(int64_t); ++i)
    memcpy(o.mine + i * sizeof(int64_t), &(int64_t){1}, sizeof(int64_t));
  onesided_meet(&o);
  const double fetch_us = onesided_measure(&o, fetch_and_op, 8, &options);
  const double swap_us = onesided_measure(&o, compare_and_swap, 8, &options);
  const double add_us = onesided_measure(&o, accumulate, 8, &options);
  const double large_us = onesided_measure(&o, accumulate, LARGEST, &options);
  if (o.rank == 0) {
    bench_emit("fetch_and_op", 8, fetch_us, "us");
    bench_emit("compare_and_swap", 8, swap_us, "us");
    bench_emit("accumulate", 8, add_us, "us");
    bench_emit("accumulate", LARGEST, large_us, "us");
  }
  measure_arrays(&o, &options);
  MPI_Bcast(&counted, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  int64_t all;
  memcpy(&all, o.memory, sizeof all);
  if (o.rank == 1 && all != counted) bench_die("operations were lost");
  onesided_end(&o);
  return 0;
}
