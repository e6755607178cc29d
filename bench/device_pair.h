// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Part of device.c: copies between two processes, of which the other one does what it is told.
#ifndef WEFT_BENCH_DEVICE_PAIR_H
#define WEFT_BENCH_DEVICE_PAIR_H

#include <sched.h>
#include <unistd.h>

#include "device_copy.h"

// Copies of fewer bytes may run where kernels do, where processes of one device take turns of 100 us and more.
enum { BY_COPY_ENGINE = 32 << 10 };

enum task { QUIT, PULL, PONG_HOST, PONG_HOST_LARGE, PONG_MAPPED };

struct order {
  enum task task;
  size_t size;
  int iterations;
};

struct pair {
  int socket;
  unsigned char* shared;  // both see it; registered with the driver by both
  _Alignas(64) _Atomic uint64_t* turns;
  unsigned char *mine, *theirs;
  cu_ipc_handle handle;  // of theirs
};

static void tell(int socket, const void* what, size_t bytes) {
  if (write(socket, what, bytes) != (ssize_t)bytes) bench_die("the other process is gone");
}

static void hear(int socket, void* what, size_t bytes) {
  if (read(socket, what, bytes) != (ssize_t)bytes) bench_die("the other process is gone");
}

// NULL: it does not work.
static unsigned char* open_theirs(struct pair* pair) {
  cu_ipc_handle mine;
  cu_pointer theirs = 0;
  int ok = works(cu.IpcGetMemHandle(&mine, address(pair->mine)), "cuIpcGetMemHandle"), they;
  tell(pair->socket, &ok, sizeof ok);
  tell(pair->socket, &mine, sizeof mine);
  hear(pair->socket, &they, sizeof they);
  hear(pair->socket, &pair->handle, sizeof pair->handle);
  ok = ok && they && works(cu.IpcOpenMemHandle(&theirs, pair->handle, CU_IPC_LAZY_PEER_ACCESS), "cuIpcOpenMemHandle");
  tell(pair->socket, &ok, sizeof ok);
  hear(pair->socket, &they, sizeof they);
  return ok && they ? (unsigned char*)(uintptr_t)theirs : NULL;
}

static void await(_Atomic uint64_t* word, uint64_t value) {
  for (int i = 1; atomic_load_explicit(word, memory_order_acquire) < value; ++i) {
    if (i % 4096 == 0) sched_yield();
  }
}

// Eight or more bytes from the one device memory to the other through pinned memory that both share: two copies.
static void pong_host(struct pair* pair, int first, size_t size, int iterations) {
  for (int i = 0; i < iterations; ++i) {
    for (int step = 0; step < 2; ++step) {
      if ((step == 0) == first) {
        expect(cu.MemcpyDtoH(pair->shared, address(pair->mine), size), "cuMemcpyDtoH");
        atomic_fetch_add_explicit(pair->turns, 1, memory_order_release);
      } else {
        await(pair->turns, 2 * (uint64_t)i + (uint64_t)step + 1);
        expect(cu.MemcpyHtoD(address(pair->mine), pair->shared, size), "cuMemcpyHtoD");
      }
    }
  }
}

// Straight into the other's memory.
static void pong_mapped(struct pair* pair, int first, size_t size, int iterations) {
  for (int i = 0; i < iterations; ++i) {
    for (int step = 0; step < 2; ++step) {
      if ((step == 0) == first) {
        expect(cu.MemcpyDtoDAsync(address(pair->theirs), address(pair->mine), size, stream), "cuMemcpyDtoDAsync");
        expect(cu.StreamSynchronize(stream), "cuStreamSynchronize");
        atomic_fetch_add_explicit(pair->turns, 1, memory_order_release);
      } else {
        await(pair->turns, 2 * (uint64_t)i + (uint64_t)step + 1);
      }
    }
  }
}

static void pull(struct pair* pair, size_t size, int iterations) {
  struct copy copy = {.kind = DEVICE,
                      .there = pair->mine,
                      .here = pair->theirs,
                      .size = size,
                      .stride = size,
                      .window = window_count(size),
                      .streams = {stream, stream}};
  copies(&copy, iterations);
}

static void act(struct pair* pair, int first, const struct order* order) {
  if (order->task == PULL) pull(pair, order->size, order->iterations);
  if (order->task == PONG_HOST) pong_host(pair, first, order->size, order->iterations);
  if (order->task == PONG_HOST_LARGE) pong_host(pair, first, BY_COPY_ENGINE, order->iterations);
  if (order->task == PONG_MAPPED) pong_mapped(pair, first, order->size, order->iterations);
}

// Both do it at once. Microseconds of one iteration.
static double together(struct pair* pair, enum task task, size_t size) {
  struct order order = {task, size, 2};
  double blocks[BENCH_BLOCKS];
  failed = 0;
  for (int b = -2; b < BENCH_BLOCKS; ++b) {
    atomic_store(pair->turns, 0);
    tell(pair->socket, &order, sizeof order);
    char ready;
    hear(pair->socket, &ready, 1);
    const double start_us = bench_now_us();
    act(pair, 1, &order);
    hear(pair->socket, &ready, 1);
    const double us = bench_now_us() - start_us;
    if (failed) return -1;
    if (b < 0) {
      order.iterations = bench_iterations(&options, us, order.iterations);
    } else {
      blocks[b] = us / order.iterations;
    }
  }
  return bench_median(blocks, BENCH_BLOCKS);
}

static int prepare(struct pair* pair) {
  cu_pointer mine = 0;
  int ok = works(cu.StreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate") &&
           works(cu.MemAlloc(&mine, 2 * WINDOW_BYTES), "cuMemAlloc");
  works(cu.MemHostRegister(pair->shared, SLOTS * SLOT_BYTES, 0), "cuMemHostRegister");
  int they;
  tell(pair->socket, &ok, sizeof ok);
  hear(pair->socket, &they, sizeof they);
  if (!ok || !they) return 0;
  pair->mine = (unsigned char*)(uintptr_t)mine;
  pair->theirs = open_theirs(pair);
  return 1;
}

static void other(struct pair* pair) {
  where = "the other process: ";
  char go;
  if (read(pair->socket, &go, 1) != 1) return;  // there is no device
  const char* reason = cu_open(0);
  if (reason) bench_die(reason);
  if (!prepare(pair)) return;
  unsigned char* pattern = bench_buffer(WINDOW_BYTES);
  bench_fill(pattern, WINDOW_BYTES, 9);
  works(cu.MemcpyHtoD(address(pair->mine), pattern, WINDOW_BYTES), "cuMemcpyHtoD");
  tell(pair->socket, "r", 1);
  for (struct order order;;) {
    hear(pair->socket, &order, sizeof order);
    if (order.task == QUIT) break;
    failed = 0;
    tell(pair->socket, "r", 1);
    act(pair, 0, &order);
    tell(pair->socket, "r", 1);
  }
  if (pair->theirs) works(cu.IpcCloseMemHandle(address(pair->theirs)), "cuIpcCloseMemHandle");
  free(pattern);
}

static void reopen(void* about, int iterations) {
  for (int i = 0; i < iterations && !failed; ++i) {
    cu_pointer theirs;
    expect(cu.IpcOpenMemHandle(&theirs, *(cu_ipc_handle*)about, CU_IPC_LAZY_PEER_ACCESS), "cuIpcOpenMemHandle");
    if (!failed) expect(cu.IpcCloseMemHandle(theirs), "cuIpcCloseMemHandle");
  }
}

static void both_processes(struct pair* pair) {
  tell(pair->socket, "g", 1);
  if (!prepare(pair)) return;
  char ready;
  hear(pair->socket, &ready, 1);
  if (pair->theirs) {
    unsigned char* seen = bench_buffer(WINDOW_BYTES);
    works(cu.Memcpy(address(pair->mine), address(pair->theirs), WINDOW_BYTES), "cuMemcpy of the other's memory");
    works(cu.MemcpyDtoH(seen, address(pair->mine), WINDOW_BYTES), "cuMemcpyDtoH");
    bench_check(seen, WINDOW_BYTES, 9);
    free(seen);
    printf("# memory of another process on the same device can be mapped, and has the bytes written there\n");
    cu_need(cu.IpcCloseMemHandle(address(pair->theirs)), "cuIpcCloseMemHandle");
    cu_pointer theirs;
    emit_us("pair_open_close", 2 * WINDOW_BYTES, reopen, &pair->handle);
    cu_need(cu.IpcOpenMemHandle(&theirs, pair->handle, CU_IPC_LAZY_PEER_ACCESS), "cuIpcOpenMemHandle");
    pair->theirs = (unsigned char*)(uintptr_t)theirs;
  }
  for (int s = 0; s < options.size_count; ++s) {
    const size_t size = options.sizes[s];
    double us = together(pair, PONG_HOST, size);
    if (us >= 0) bench_emit("pair_latency_host", size, us / 2, "us");
    if (size < BY_COPY_ENGINE) {
      us = together(pair, PONG_HOST_LARGE, size);
      if (us >= 0) bench_emit("pair_latency_host_large", size, us / 2, "us");
    }
    if (!pair->theirs) continue;
    us = together(pair, PONG_MAPPED, size);
    if (us >= 0) bench_emit("pair_latency_mapped", size, us / 2, "us");
    struct copy pulling = {
        .kind = DEVICE, .there = pair->mine, .here = pair->theirs, .size = size, .streams = {stream, stream}};
    emit_window("pair_window_pull", &pulling, copies, 1);
    struct copy pushing = {
        .kind = DEVICE, .there = pair->theirs, .here = pair->mine, .size = size, .streams = {stream, stream}};
    emit_window("pair_window_push", &pushing, copies, 1);
    us = together(pair, PULL, size);
    if (us >= 0) bench_emit("pair_window_both_pull", size, 2.0 * window_count(size) * (double)size / us, "MB/s");
  }
}

#endif  // WEFT_BENCH_DEVICE_PAIR_H
