// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Common parts of device.c: measuring, and copies in flight. A call that fails is a line on the standard error,
// and the rest goes on.
#ifndef WEFT_BENCH_DEVICE_COPY_H
#define WEFT_BENCH_DEVICE_COPY_H

#include <stdatomic.h>

#include "device.h"

enum { WINDOW = 64, WINDOW_BYTES = 16 << 20, SLOTS = 2, SLOT_BYTES = 16 << 20 };

static struct bench_options options;
static void* stream;
static const char* where = "";  // of which process a message speaks

static int works(int error, const char* call) {
  if (error == CU_SUCCESS) return 1;
  fprintf(stderr, "device: %s%s: %s (%d)\n", where, call, cu_error(error), error);
  return 0;
}

static int window_count(size_t size) {
  if (size * WINDOW <= WINDOW_BYTES) return WINDOW;
  return size > WINDOW_BYTES ? 1 : (int)(WINDOW_BYTES / size);
}

// ---- Microseconds of one iteration: the median of blocks

static int failed;  // of the work that is being measured

typedef void (*work_of)(void* about, int iterations);

static double run(work_of work, void* about, int iterations) {
  const double start = bench_now_us();
  work(about, iterations);
  return bench_now_us() - start;
}

// Below 0: a call failed.
static double measure(work_of work, void* about) {
  enum { TRIES = 3 };
  failed = 0;
  work(about, 1);
  if (failed) return -1;
  const int iterations = bench_iterations(&options, run(work, about, TRIES), TRIES);
  double blocks[BENCH_BLOCKS];
  for (int b = 0; b < BENCH_BLOCKS && !failed; ++b) blocks[b] = run(work, about, iterations) / iterations;
  return failed ? -1 : bench_median(blocks, BENCH_BLOCKS);
}

static void emit_us(const char* name, size_t size, work_of work, void* about) {
  const double us = measure(work, about);
  if (us >= 0) bench_emit(name, size, us, "us");
}

static void expect(int error, const char* call) {
  if (!failed && !works(error, call)) failed = 1;
}

// ---- Copies

enum kind { DEVICE, TO_DEVICE, FROM_DEVICE };

struct copy {
  enum kind kind;
  unsigned char* there;  // on the device
  unsigned char* here;   // on the host, or on the device too
  size_t size, stride;
  int window;
  void* streams[2];  // taken in turn
  void* back;        // both directions at once: on the host, copied from `there` in the second stream
  _Atomic uint32_t* flag;
  cu_pointer flag_there;
  uint32_t flags;
};

static cu_pointer address(const void* memory) {
  return (uintptr_t)memory;
}

static int start(const struct copy* copy, int i) {
  const size_t place = (size_t)i * copy->stride;
  void* stream_of = copy->streams[i % 2];
  switch (copy->kind) {
    case TO_DEVICE:
      return cu.MemcpyHtoDAsync(address(copy->there + place), copy->here + place, copy->size, stream_of);
    case FROM_DEVICE:
      return cu.MemcpyDtoHAsync(copy->here + place, address(copy->there + place), copy->size, stream_of);
    default:
      return cu.MemcpyDtoDAsync(address(copy->there + place), address(copy->here + place), copy->size, stream_of);
  }
}

static void copies(void* about, int iterations) {
  const struct copy* copy = about;
  for (int i = 0; i < iterations && !failed; ++i) {
    for (int c = 0; c < copy->window; ++c) expect(start(copy, c), "an asynchronous copy");
    expect(cu.StreamSynchronize(copy->streams[0]), "cuStreamSynchronize");
    if (copy->streams[1] != copy->streams[0]) {
      expect(cu.StreamSynchronize(copy->streams[1]), "cuStreamSynchronize");
    }
  }
}

static void emit_window(const char* name, struct copy* copy, work_of work, int directions) {
  copy->window = window_count(copy->size);
  copy->stride = copy->size;
  const double us = measure(work, copy);
  if (us >= 0) bench_emit(name, copy->size, directions * copy->window * (double)copy->size / us, "MB/s");
}

static void emit_latency(const char* name, struct copy* copy, work_of work) {
  copy->window = 1;
  emit_us(name, copy->size, work, copy);
}

#endif
