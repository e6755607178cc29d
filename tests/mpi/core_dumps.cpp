// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A core dump holds memory of MPI_Alloc_mem that is in use, and not the gigabytes of address space around it, which the
// kernel would read page by page.
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "expect.hpp"

namespace {

// Bytes of the job's segment that a core dump reads; and whether those at `address` are among them.
struct Dumped {
  uint64_t bytes = 0;
  bool here = false;
};

Dumped dumped(const void* address) {
  Dumped found;
  FILE* maps = std::fopen("/proc/self/smaps", "r");
  if (maps == nullptr) return found;
  char line[512];
  unsigned long begin = 0;
  unsigned long end = 0;
  bool ours = false;
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long from = 0;
    unsigned long to = 0;
    if (std::sscanf(line, "%lx-%lx ", &from, &to) == 2) {
      begin = from;
      end = to;
      ours = std::strstr(line, "memfd:weft") != nullptr;
    } else if (ours && std::strncmp(line, "VmFlags:", 8) == 0 && std::strstr(line, " dd") == nullptr) {
      found.bytes += end - begin;
      const auto at = reinterpret_cast<uintptr_t>(address);
      found.here = found.here || (at >= begin && at < end);
    }
  }
  std::fclose(maps);
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  void* memory = nullptr;
  MPI_Alloc_mem(1 << 16, MPI_INFO_NULL, &memory);
  // The heaps of the others are mapped too.
  MPI_Win win;
  char* base = nullptr;
  MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_lock_all(0, win);
  const char value = 1;
  MPI_Put(&value, 1, MPI_CHAR, (expect::rank + 1) % expect::size, 0, 1, MPI_CHAR, win);
  MPI_Win_unlock_all(win);
  const Dumped in_use = dumped(memory);
  EXPECT(in_use.here, "memory of MPI_Alloc_mem is kept out of core dumps");
  EXPECT(in_use.bytes < (uint64_t{64} << 20), "%llu MiB of shared memory would be dumped",
         static_cast<unsigned long long>(in_use.bytes >> 20));
  MPI_Free_mem(memory);
  EXPECT(!dumped(memory).here, "freed memory would be dumped");
  MPI_Win_free(&win);
  return expect::finish();
}
