// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI_Put and MPI_Win_flush while rank 1 computes for 200 ms and calls nothing of MPI: how long they take, and whether
// the data are in its memory by then. Where they are not, a flush must take until rank 1 calls again; one that
// is sooner says that is done what is not.
#include "onesided.h"

enum { AWAY_US = 200000, LATER_US = 20000 };

int main(int argc, char** argv) {
  struct onesided o;
  onesided_start(&o, &argc, &argv, 8);
  for (int round = 0; round < 2; ++round) {  // the first one connects
    memset(o.memory, 0, 8);
    bench_fill(o.mine, 8, 7);
    onesided_meet(&o);
    double start = bench_now_us();
    if (o.rank == 0) {
      while (bench_now_us() - start < LATER_US) continue;  // rank 1 has come out of the barrier
      start = bench_now_us();
      MPI_Put(o.mine, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, o.window);
      MPI_Win_flush(1, o.window);
      if (round == 1) bench_emit("put_away", 8, bench_now_us() - start, "us");
    } else if (round == 1) {
      const volatile unsigned char* last = o.memory + 7;
      double came = 0;
      while (bench_now_us() - start < AWAY_US) {
        if (came == 0 && *last != 0) came = bench_now_us() - start;
      }
      bench_emit("put_away_data", 8, came, "us");  // 0: not while it computed
    }
    onesided_meet(&o);
  }
  onesided_end(&o);
  return 0;
}
