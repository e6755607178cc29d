// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Keys that lie in the order of the ranks that they go to travel there: by MPI_Alltoallv, or, WITH_SHMEM, by puts to a
// place that an atomic addition reserves.

#include <cstdint>
#include <numeric>
#include <vector>

#include "kernel.hpp"
#ifdef WITH_SHMEM
#include <shmem.h>
#endif

namespace kernels {

using Keys = std::vector<uint64_t>;

#ifndef WITH_SHMEM
inline Keys exchange(Kernel& kernel, const Keys& keys, const std::vector<int>& counts, int64_t /*room*/) {
  std::vector<int> coming(counts.size()), to(counts.size()), from(counts.size());
  kernel.mpi([&] { MPI_Alltoall(counts.data(), 1, MPI_INT, coming.data(), 1, MPI_INT, MPI_COMM_WORLD); });
  std::exclusive_scan(counts.begin(), counts.end(), to.begin(), 0);
  std::exclusive_scan(coming.begin(), coming.end(), from.begin(), 0);
  Keys mine(static_cast<std::size_t>(from.back() + coming.back()));
  kernel.mpi([&] {
    MPI_Alltoallv(keys.data(), counts.data(), to.data(), MPI_UINT64_T, mine.data(), coming.data(), from.data(),
                  MPI_UINT64_T, MPI_COMM_WORLD);
  });
  return mine;
}
#else
// `room` is the number of keys that may come to a rank at once, the same for every call.
inline Keys exchange(Kernel& kernel, const Keys& keys, const std::vector<int>& counts, int64_t room) {
  static int64_t taken;  // words of the bucket that senders have reserved; symmetric, as all static objects
  static uint64_t* bucket = nullptr;
  if (bucket == nullptr)
    bucket = static_cast<uint64_t*>(shmem_malloc(static_cast<std::size_t>(room) * sizeof(uint64_t)));
  taken = 0;
  bool fits = bucket != nullptr;
  kernel.mpi([&] {
    shmem_barrier_all();
    for (int step = 0; step < kernel.ranks; ++step) {
      // Each PE begins with another target.
      const int pe = (kernel.rank + step) % kernel.ranks;
      const int64_t from = std::accumulate(counts.begin(), counts.begin() + pe, int64_t{0});
      const int64_t count = counts[static_cast<std::size_t>(pe)], at = shmem_int64_atomic_fetch_add(&taken, count, pe);
      fits = fits && at + count <= room;
      if (fits) shmem_uint64_put(bucket + at, keys.data() + from, static_cast<std::size_t>(count), pe);
    }
    shmem_barrier_all();
  });
  if (!fits) {
    std::fprintf(stderr, "%s: %s\n", kernel.name(),
                 bucket == nullptr ? "the symmetric heap is too small: set SHMEM_SYMMETRIC_SIZE"
                                   : "more keys than expected go to one PE: take a larger size (-n)");
    shmem_global_exit(1);
  }
  return {bucket, bucket + taken};
}
#endif

}  // namespace kernels
