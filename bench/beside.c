// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Data of a device exchanged by two ranks while a kernel of each runs there, in a stream of its own, for as long as the
// exchange takes without it: the time of the exchange, and how much of it is hidden. 100 percent: nothing of it is
// seen.
#include <mpi.h>

#include "place.h"

// Runs for so many nanoseconds. The driver compiles PTX.
static const char kernel[] =
    ".version 7.0\n"
    ".target sm_52\n"
    ".address_size 64\n"
    ".visible .entry spin(.param .u64 time)\n"
    "{\n"
    "  .reg .u64 %t<4>;\n"
    "  .reg .pred %p;\n"
    "  ld.param.u64 %t1, [time];\n"
    "  mov.u64 %t2, %globaltimer;\n"
    "again:\n"
    "  mov.u64 %t3, %globaltimer;\n"
    "  sub.u64 %t3, %t3, %t2;\n"
    "  setp.lt.u64 %p, %t3, %t1;\n"
    "  @%p bra again;\n"
    "  ret;\n"
    "}\n";

static void *spin, *stream;
static unsigned char *out, *in;

static void launch(double us) {
  uint64_t ns = (uint64_t)(us * 1000);
  void* arguments[] = {&ns};
  cu_need(cu.LaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL), "cuLaunchKernel");
}

enum what { EXCHANGE = 1, KERNEL = 2 };

// Microseconds of one round, of the rank that takes the longest.
static double rounds(int what, int rank, size_t size, double kernel_us, int iterations) {
  double sum = 0;
  for (int i = 0; i < iterations; ++i) {
    MPI_Request requests[2];
    double mine, all;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = bench_now_us();
    if (what & KERNEL) launch(kernel_us);
    if (what & EXCHANGE) {
      MPI_Irecv(in, (int)size, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, &requests[0]);
      MPI_Isend(out, (int)size, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    if (what & KERNEL) cu_need(cu.StreamSynchronize(stream), "cuStreamSynchronize");
    mine = bench_now_us() - start;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    sum += all;
  }
  return sum / iterations;
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {65536, 1048576, 4194304, 16777216};
  places.of[0] = places.of[1] = PLACE_CUDA;
  const struct bench_options options = place_parse(argc, argv, sizes, sizeof sizes / sizeof *sizes);
  if (!place_by_driver(places.of[0]) || !place_by_driver(places.of[1])) bench_die("kernels need -d cuda on both sides");
  MPI_Init(&argc, &argv);
  const int rank = bench_rank_of(2);
  int ranks;
  void* module;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 2) bench_die("this program takes two ranks");
  place_start(rank);
  cu_need(cu.ModuleLoadData(&module, kernel), "cuModuleLoadData");
  cu_need(cu.ModuleGetFunction(&spin, module, "spin"), "cuModuleGetFunction");
  cu_need(cu.StreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  for (int s = 0; s < options.size_count; ++s) {
    const size_t size = options.sizes[s];
    out = place_buffer(size);
    in = place_buffer(size);
    place_fill(out, size, 7 + (unsigned)rank);
    rounds(EXCHANGE, rank, size, 0, 1);
    place_check(in, size, 8 - (unsigned)rank);
    enum { MOST = 40 };  // as many are enough, and each may last as long as the scheduler lets others run
    int iterations = bench_iterations(&options, rounds(EXCHANGE, rank, size, 0, 3) * 3, 3);
    iterations = bench_agree(iterations < MOST ? iterations : MOST);
    double pure[BENCH_BLOCKS], kernels[BENCH_BLOCKS], hidden[BENCH_BLOCKS];
    for (int b = 0; b < BENCH_BLOCKS; ++b) {
      pure[b] = rounds(EXCHANGE, rank, size, 0, iterations);
      kernels[b] = rounds(KERNEL, rank, size, pure[b], iterations);
      const double seen = rounds(EXCHANGE | KERNEL, rank, size, pure[b], iterations) - kernels[b];
      hidden[b] = seen < 0 ? 100 : seen > pure[b] ? 0 : 100 * (1 - seen / pure[b]);
    }
    if (rank == 0) {
      bench_emit("beside_exchange", size, bench_median(pure, BENCH_BLOCKS), "us");
      bench_emit("beside_kernel", size, bench_median(kernels, BENCH_BLOCKS), "us");
      bench_emit("beside_hidden", size, bench_median(hidden, BENCH_BLOCKS), "pct");
    }
    place_free(out);
    place_free(in);
  }
  MPI_Finalize();
  return 0;
}
