// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Message rate: windows of 64 small messages from rank 0 to rank 1.
#include "window.h"

int main(int argc, char** argv) {
  static const size_t sizes[] = {8, 64, 512};
  struct bench_options options = place_parse(argc, argv, sizes, sizeof sizes / sizeof *sizes);
  options.block_us *= 2;
  MPI_Init(&argc, &argv);
  const int rank = bench_rank_of(2);
  place_start(rank);
  struct window w;
  window_create(&w, &options);
  for (int i = 0; rank < 2 && i < options.size_count; ++i) {
    const size_t size = options.sizes[i];
    const double us = window_measure(&w, window_one_way, rank, size, &options);
    if (rank == 0) {
      bench_emit("rate", size, window_count(size) / us, "M/s");
      bench_emit("rate_bandwidth", size, window_count(size) * (double)size / us, "MB/s");
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  window_free(&w);
  MPI_Finalize();
  return 0;
}
