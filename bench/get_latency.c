// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI_Get and MPI_Win_flush, one after the other: the time until the data of rank 1 is here.
#include "onesided.h"

static void get(struct onesided* o, size_t size, int iterations) {
  for (int i = 0; i < iterations; ++i) {
    MPI_Get(o->mine, (int)size, MPI_BYTE, 1, 0, (int)size, MPI_BYTE, o->window);
    MPI_Win_flush(1, o->window);
  }
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {8, 64, 1024, 4096, 16384, 65536, 1048576, 4194304};
  const struct bench_options options = place_parse(argc, argv, sizes, sizeof sizes / sizeof *sizes);
  struct onesided o;
  onesided_start(&o, &argc, &argv, onesided_largest(&options));
  for (int i = 0; i < options.size_count; ++i) {
    const size_t size = options.sizes[i];
    if (o.rank == 1) place_fill(o.memory, size, 7 + (unsigned)i);
    onesided_meet(&o);
    const double us = onesided_measure(&o, get, size, &options);
    if (o.rank == 0) bench_emit("get_latency", size, us, "us");
    if (o.rank == 0) place_check(o.mine, size, 7 + (unsigned)i);
  }
  onesided_end(&o);
  return 0;
}
