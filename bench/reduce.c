// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI_Reduce_local by one rank: the cost of the arithmetic of a reduction without its messages. Size: bytes of a
// buffer; the rate counts these bytes, of which two are read and one is written. Buffers are at hand in the cache that
// fits.
#include <mpi.h>

#include "bench.h"

struct row {
  const char* name;
  MPI_Datatype type;
  MPI_Op op;
  size_t extent;
  unsigned char in[16], inout[16], result[16];  // one element, as bytes
};

static void put(unsigned char* to, const void* from, size_t bytes) {
  memcpy(to, from, bytes);
}

#define ROW(label, kind, operation, T, a, b, r)                                                       \
  {                                                                                                   \
    struct row* row = &rows[count++];                                                                 \
    *row = (struct row){.name = "reduce_" label, .type = kind, .op = operation, .extent = sizeof(T)}; \
    put(row->in, &(T){a}, sizeof(T));                                                                 \
    put(row->inout, &(T){b}, sizeof(T));                                                              \
    put(row->result, &(T){r}, sizeof(T));                                                             \
  }

enum { MOST_ROWS = 16 };

// The values keep what is computed over and over finite.
static int make_rows(struct row* rows) {
  int count = 0;
  ROW("sum_int", MPI_INT, MPI_SUM, int, 5, -7, -2)
  ROW("sum_float", MPI_FLOAT, MPI_SUM, float, 0.5F, 1.5F, 2.0F)
  ROW("sum_double", MPI_DOUBLE, MPI_SUM, double, 0.5, 1.5, 2.0)
  ROW("prod_double", MPI_DOUBLE, MPI_PROD, double, -1.0, 3.0, -3.0)
  ROW("prod_long", MPI_LONG, MPI_PROD, long, 5, -7, -35)
  ROW("max_int", MPI_INT, MPI_MAX, int, 5, -7, 5)
  ROW("max_double", MPI_DOUBLE, MPI_MAX, double, 5, -7, 5)
  ROW("band_long", MPI_LONG, MPI_BAND, long, 12, 10, 8)
  ROW("land_int", MPI_INT, MPI_LAND, int, 2, 1, 1)
  return count;
}

static void check(const struct row* row, void* in, unsigned char* inout) {
  enum { ELEMENTS = 67 };
  for (size_t i = 0; i < ELEMENTS; ++i) {
    memcpy((unsigned char*)in + i * row->extent, row->in, row->extent);
    memcpy(inout + i * row->extent, row->inout, row->extent);
  }
  MPI_Reduce_local(in, inout, ELEMENTS, row->type, row->op);
  for (size_t i = 0; i < ELEMENTS; ++i) {
    if (memcmp(inout + i * row->extent, row->result, row->extent) != 0) bench_die("a result is wrong");
  }
}

static double reductions(const struct row* row, const void* in, void* inout, int count, int iterations) {
  const double start = bench_now_us();
  for (int i = 0; i < iterations; ++i) MPI_Reduce_local(in, inout, count, row->type, row->op);
  return bench_now_us() - start;
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {8, 64, 1024, 16384, 262144, 4194304};
  const struct bench_options options = bench_parse(argc, argv, sizes, sizeof sizes / sizeof *sizes);
  MPI_Init(&argc, &argv);
  size_t largest = 4096;
  for (int i = 0; i < options.size_count; ++i) {
    if (options.sizes[i] > largest) largest = options.sizes[i];
  }
  unsigned char *in = bench_buffer(largest), *inout = bench_buffer(largest);
  struct row rows[MOST_ROWS];
  const int row_count = make_rows(rows);
  for (int r = 0; r < row_count; ++r) {
    check(&rows[r], in, inout);
    for (size_t i = 0; i < largest / rows[r].extent; ++i) memcpy(in + i * rows[r].extent, rows[r].in, rows[r].extent);
    for (size_t i = 0; i < largest / rows[r].extent; ++i) {
      memcpy(inout + i * rows[r].extent, rows[r].inout, rows[r].extent);
    }
    for (int s = 0; s < options.size_count; ++s) {
      const int count = (int)(options.sizes[s] / rows[r].extent);
      if (count == 0) continue;
      enum { TRIES = 4 };
      reductions(&rows[r], in, inout, count, TRIES);
      const int iterations = bench_iterations(&options, reductions(&rows[r], in, inout, count, TRIES), TRIES);
      double blocks[BENCH_BLOCKS];
      for (int b = 0; b < BENCH_BLOCKS; ++b) {
        const double us = reductions(&rows[r], in, inout, count, iterations) / iterations;
        blocks[b] = (double)count * (double)rows[r].extent / us;
      }
      bench_emit(rows[r].name, options.sizes[s], bench_median(blocks, BENCH_BLOCKS), "MB/s");
    }
  }
  free(in);
  free(inout);
  MPI_Finalize();
  return 0;
}
