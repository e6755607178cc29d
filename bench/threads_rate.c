// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Message rate of threads: windows of 64 small messages from each thread of rank 0 to its partner in rank 1, all
// threads together.
//   threads_rate [--quick] [--threads=1,2,4,8] [--mode=tag,comm,same,any] [BYTES...]    with 2 ranks
//   threads_rate [--quick] --mode=processes [BYTES...]    the same traffic by processes: twice as many ranks as threads
#include "threads.h"

static void report(const struct team* team, const char* mode, double messages, double us) {
  threads_emit(team, "threads_rate", mode, messages / us, "M/s");
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {8, 512};
  return threads_windows(argc, argv, sizes, sizeof sizes / sizeof *sizes, report);
}
