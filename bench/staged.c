// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Data of a device as programs send them with a library that takes no addresses of devices: copied to pinned memory of
// the host, sent from there, and copied to the device behind the receive. Beside latency and bandwidth with `-d cuda`.
#include "place.h"
#include "window.h"

static unsigned char *on_device, *out, *in;

static unsigned char* pinned(size_t bytes) {
  void* memory = NULL;
  if (!place_by_driver(places.mine)) return bench_buffer(bytes);
  cu_need(cu.MemHostAlloc(&memory, bytes, 0), "cuMemHostAlloc");
  return memory;
}

static void unpin(void* memory) {
  if (!place_by_driver(places.mine)) {
    free(memory);
  } else {
    cu_need(cu.MemFreeHost(memory), "cuMemFreeHost");
  }
}

static void send(size_t size, int peer) {
  place_copy(out, on_device, size);
  MPI_Send(out, (int)size, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
}

static void receive(size_t size, int peer) {
  MPI_Recv(in, (int)size, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  place_copy(on_device, in, size);
}

static void ping_pong(int rank, size_t size, int iterations) {
  for (int i = 0; i < iterations; ++i) {
    if (rank == 0) send(size, 1);
    receive(size, 1 - rank);
    if (rank == 1) send(size, 0);
  }
}

// Each message of a window has its own place on both sides; a copy begins when its message has arrived.
static void one_way(int rank, size_t size, int iterations) {
  MPI_Request requests[WINDOW];
  const int count = window_count(size);
  int ack = 0;
  for (int i = 0; i < iterations; ++i) {
    for (int m = 0; m < count; ++m) {
      const size_t place = (size_t)m * size;
      if (rank == 0) {
        place_copy(out + place, on_device + place, size);
        MPI_Isend(out + place, (int)size, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[m]);
      } else {
        MPI_Irecv(in + place, (int)size, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[m]);
      }
    }
    for (int m = 0; m < count; ++m) {
      const size_t place = (size_t)m * size;
      MPI_Wait(&requests[m], MPI_STATUS_IGNORE);
      if (rank == 1) place_copy(on_device + place, in + place, size);
    }
    if (rank == 0) MPI_Recv(&ack, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(&ack, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
  }
}

// Microseconds of one iteration.
static double measure(void (*pattern)(int rank, size_t size, int iterations), int rank, size_t size, size_t checked,
                      const struct bench_options* options) {
  enum { TRIES = 2 };
  double blocks[BENCH_BLOCKS];
  place_fill(on_device, checked, rank == 0 ? 7 : 8);
  pattern(rank, size, 1);
  place_check(on_device, checked, 7);
  double start = bench_now_us();
  pattern(rank, size, TRIES);
  const int iterations = bench_agree(bench_iterations(options, bench_now_us() - start, TRIES));
  for (int b = 0; b < BENCH_BLOCKS; ++b) {
    start = bench_now_us();
    pattern(rank, size, iterations);
    blocks[b] = (bench_now_us() - start) / iterations;
  }
  return bench_median(blocks, BENCH_BLOCKS);
}

int main(int argc, char** argv) {
  static const size_t sizes[] = {8, 1024, 16384, 65536, 262144, 1048576, 4194304, 16777216};
  places.of[0] = places.of[1] = PLACE_CUDA;
  const struct bench_options options = place_parse(argc, argv, sizes, sizeof sizes / sizeof *sizes);
  MPI_Init(&argc, &argv);
  const int rank = bench_rank_of(2);
  place_start(rank);
  size_t bytes = WINDOW_BYTES;
  for (int i = 0; i < options.size_count; ++i) bytes = options.sizes[i] > bytes ? options.sizes[i] : bytes;
  on_device = place_buffer(bytes);
  out = pinned(bytes);
  in = pinned(bytes);
  for (int i = 0; rank < 2 && i < options.size_count; ++i) {
    const size_t size = options.sizes[i], window = size * (size_t)window_count(size);
    const double latency = measure(ping_pong, rank, size, size, &options) / 2;
    const double us = measure(one_way, rank, size, window, &options);
    if (rank == 0) bench_emit("staged_latency", size, latency, "us");
    if (rank == 0) bench_emit("staged_bandwidth", size, (double)window / us, "MB/s");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  place_free(on_device);
  unpin(out);
  unpin(in);
  MPI_Finalize();
  return 0;
}
