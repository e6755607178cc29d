// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause

// Sorting whole numbers by buckets, as ISx does: random keys on each rank go to the rank of their interval, which sorts
// them. -n keys of each rank. The keys travel by MPI_Alltoallv, or, in isort_shmem, by puts to a place that an atomic
// addition reserves.

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernel.hpp"
#ifdef WITH_SHMEM
#include <shmem.h>
#endif

namespace {

using Keys = std::vector<int64_t>;
constexpr int64_t range = 1LL << 28;

int bucket_of(int64_t key, int ranks) {
  return static_cast<int>(key * ranks / range);
}

// Keys in the order of their ranks, with the number for each rank.
Keys grouped(const Keys& keys, int ranks, std::vector<int>* counts) {
  counts->assign(static_cast<std::size_t>(ranks), 0);
  for (const int64_t key : keys) ++(*counts)[static_cast<std::size_t>(bucket_of(key, ranks))];
  std::vector<int> at(counts->size());
  std::exclusive_scan(counts->begin(), counts->end(), at.begin(), 0);
  Keys result(keys.size());
  for (const int64_t key : keys)
    result[static_cast<std::size_t>(at[static_cast<std::size_t>(bucket_of(key, ranks))]++)] = key;
  return result;
}

#ifndef WITH_SHMEM
Keys exchange(kernels::Kernel& kernel, const Keys& keys, const std::vector<int>& counts) {
  std::vector<int> coming(counts.size()), to(counts.size()), from(counts.size());
  kernel.mpi([&] { MPI_Alltoall(counts.data(), 1, MPI_INT, coming.data(), 1, MPI_INT, MPI_COMM_WORLD); });
  std::exclusive_scan(counts.begin(), counts.end(), to.begin(), 0);
  std::exclusive_scan(coming.begin(), coming.end(), from.begin(), 0);
  Keys mine(static_cast<std::size_t>(from.back() + coming.back()));
  kernel.mpi([&] {
    MPI_Alltoallv(keys.data(), counts.data(), to.data(), MPI_INT64_T, mine.data(), coming.data(), from.data(),
                  MPI_INT64_T, MPI_COMM_WORLD);
  });
  return mine;
}
#else
Keys exchange(kernels::Kernel& kernel, const Keys& keys, const std::vector<int>& counts) {
  static int64_t taken;  // words of the bucket that senders have reserved; symmetric, as all static objects
  static int64_t* bucket = nullptr;
  const int64_t room = 2 * kernel.n + 1024;
  if (bucket == nullptr) bucket = static_cast<int64_t*>(shmem_malloc(static_cast<std::size_t>(room) * sizeof(int64_t)));
  taken = 0;
  bool fits = bucket != nullptr;
  kernel.mpi([&] {
    shmem_barrier_all();
    int64_t from = 0;
    for (int step = 0; step < kernel.ranks; ++step) {
      // Each PE begins with another target.
      const int pe = (kernel.rank + step) % kernel.ranks;
      from = std::accumulate(counts.begin(), counts.begin() + pe, int64_t{0});
      const int64_t count = counts[static_cast<std::size_t>(pe)], at = shmem_int64_atomic_fetch_add(&taken, count, pe);
      fits = fits && at + count <= room;
      if (fits) shmem_int64_put(bucket + at, keys.data() + from, static_cast<std::size_t>(count), pe);
    }
    shmem_barrier_all();
  });
  if (!fits) {
    std::fprintf(stderr, "isort_shmem: the symmetric heap is too small: set SHMEM_SYMMETRIC_SIZE\n");
    shmem_global_exit(1);
  }
  return {bucket, bucket + taken};
}
#endif

}  // namespace

int main(int argc, char** argv) {
#ifdef WITH_SHMEM
  kernels::Kernel kernel(argc, argv, "isort_shmem", 1 << 17, 1, 1 << 26, "put");
  shmem_init();
#else
  kernels::Kernel kernel(argc, argv, "isort", 1 << 17, 1, 1 << 26, "alltoallv");
#endif
  Keys keys(static_cast<std::size_t>(kernel.n)), mine;
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = static_cast<int64_t>(kernels::mix(static_cast<uint64_t>(kernel.rank) * keys.size() + i) % range);
  kernel.start();
  for (int64_t step = 0; step < kernel.repeats; ++step) {
    std::vector<int> counts;
    const Keys sent = grouped(keys, kernel.ranks, &counts);
    mine = exchange(kernel, sent, counts);
    std::sort(mine.begin(), mine.end());
  }
  kernel.stop();

  // Sorted, each in its interval, and all that was there: number, sum, and sum of hashes.
  bool right = true;
  for (const int64_t key : mine) right = right && bucket_of(key, kernel.ranks) == kernel.rank;
  const auto sums = [](const Keys& of) {
    uint64_t plain = 0, hashed = 0;
    for (const int64_t key : of)
      plain += static_cast<uint64_t>(key), hashed += kernels::mix(static_cast<uint64_t>(key));
    return std::vector<uint64_t>{of.size(), plain, hashed};
  };
  std::vector<uint64_t> before = sums(keys), after = sums(mine);
  MPI_Allreduce(MPI_IN_PLACE, before.data(), 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, after.data(), 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  right = right && before == after && std::is_sorted(mine.begin(), mine.end());
#ifdef WITH_SHMEM
  shmem_finalize();
#endif
  return kernel.finish(1e-6 * static_cast<double>(kernel.n * kernel.ranks * kernel.repeats), "million keys/s", right,
                       "sorted, and the keys of the start");
}
