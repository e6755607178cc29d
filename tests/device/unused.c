// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Takes memory of the device, writes it and reads it back, as a program does that comes next, and prints how many bytes
// of the device were unused before that.
#include "device.h"

int main(void) {
  enum { BYTES = 8 << 20 };
  size_t unused = 0, total = 0;
  cu_pointer memory;
  const char* reason = cu_open(0);
  if (reason) {
    fprintf(stderr, "skipped: %s\n", reason);
    return BENCH_SKIP;
  }
  cu_need(cu.MemGetInfo(&unused, &total), "cuMemGetInfo");
  unsigned char *out = bench_buffer(BYTES), *in = bench_buffer(BYTES);
  bench_fill(out, BYTES, 5);
  cu_need(cu.MemAlloc(&memory, BYTES), "cuMemAlloc");
  cu_need(cu.Memcpy(memory, (uintptr_t)out, BYTES), "cuMemcpy to the device");
  cu_need(cu.Memcpy((uintptr_t)in, memory, BYTES), "cuMemcpy from the device");
  bench_check(in, BYTES, 5);
  cu_need(cu.MemFree(memory), "cuMemFree");
  printf("%zu\n", unused);
  free(out);
  free(in);
  return 0;
}
