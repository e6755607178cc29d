// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Bandwidth: windows from rank 0 to rank 1.
#define BENCH_FRESH
#include "window.h"

int main(int argc, char** argv) {
  static const size_t sizes[] = {64, 1024, 4096, 8192, 16384, 65536, 262144, 1048576, 4194304};
  const struct bench_options options = place_parse(argc, argv, sizes, sizeof sizes / sizeof *sizes);
  MPI_Init(&argc, &argv);
  const int rank = bench_rank_of(2);
  place_start(rank);
  struct window w;
  window_create(&w, &options);
  for (int i = 0; rank < 2 && i < options.size_count; ++i) {
    const size_t size = options.sizes[i];
    const double us = window_measure(&w, window_one_way, rank, size, &options);
    const double bytes = window_count(size) * (double)size;
    if (rank == 0) bench_emit_measure(&options, "bandwidth", size, bytes / us, "MB/s");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  window_free(&w);
  MPI_Finalize();
  return 0;
}
