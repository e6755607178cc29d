// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Many puts to places of their own, then one flush: puts per time.
#include "onesided.h"

enum { BATCH = 256 };

static void puts_and_flush(struct onesided* o, size_t size, int iterations) {
  for (int i = 0; i < iterations; ++i) {
    for (size_t k = 0; k < BATCH; ++k) {
      MPI_Put(o->mine + k * size, (int)size, MPI_BYTE, 1, (MPI_Aint)(k * size), (int)size, MPI_BYTE, o->window);
    }
    MPI_Win_flush(1, o->window);
  }
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {8, 64, 512, 4096};
  struct bench_options options = place_parse(argc, argv, sizes, sizeof sizes / sizeof *sizes);
  options.block_us *= 2;
  struct onesided o;
  onesided_start(&o, &argc, &argv, BATCH * onesided_largest(&options));
  for (int i = 0; i < options.size_count; ++i) {
    const size_t size = options.sizes[i];
    place_fill(o.mine, BATCH * size, 7 + (unsigned)i);
    onesided_meet(&o);
    const double us = onesided_measure(&o, puts_and_flush, size, &options);
    if (o.rank == 0) bench_emit("put_rate", size, BATCH / us, "M/s");
    if (o.rank == 1) place_check(o.memory, BATCH * size, 7 + (unsigned)i);
  }
  onesided_end(&o);
  return 0;
}
