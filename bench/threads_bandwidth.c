// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Bandwidth of threads: as threads_rate, with large messages, in windows of at most 16 MiB per thread.
//   threads_bandwidth [--quick] [--threads=1,2,4,8] [--mode=tag,comm,same,any] [BYTES...]    with 2 ranks
//   threads_bandwidth [--quick] --mode=processes [BYTES...]    with twice as many ranks as threads
#include "threads.h"

static void report(const struct team* team, const char* mode, double messages, double us) {
  threads_emit(team, "threads_bandwidth", mode, messages * (double)team->size / us, "MB/s");
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {65536, 1048576};
  return threads_windows(argc, argv, sizes, sizeof sizes / sizeof *sizes, report);
}
