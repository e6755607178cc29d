// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into a program that uses no driver itself (tests/mpi/device.cpp): the first thread has the device as a
// program of CUDA's runtime has it after its first call.
#include "device.h"

__attribute__((constructor)) static void open_device(void) {
  const char* reason = cu_open(0);
  if (reason) fprintf(stderr, "context: no device: %s\n", reason);
}
