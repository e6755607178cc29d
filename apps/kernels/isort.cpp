// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause

// Sorting whole numbers by buckets, as ISx does: random keys on each rank go to the rank of their interval, which sorts
// them. -n keys of each rank. The keys travel by MPI_Alltoallv, or, in isort_shmem, by puts to a place that an atomic
// addition reserves.

#include <algorithm>
#include <numeric>
#include <vector>

#include "buckets.hpp"

namespace {

using kernels::Keys;
constexpr uint64_t range = 1ULL << 28;

int bucket_of(uint64_t key, int ranks) {
  return static_cast<int>(key * static_cast<uint64_t>(ranks) / range);
}

// Keys in the order of their ranks, with the number for each rank.
Keys grouped(const Keys& keys, int ranks, std::vector<int>* counts) {
  counts->assign(static_cast<std::size_t>(ranks), 0);
  for (const uint64_t key : keys) ++(*counts)[static_cast<std::size_t>(bucket_of(key, ranks))];
  std::vector<int> at(counts->size());
  std::exclusive_scan(counts->begin(), counts->end(), at.begin(), 0);
  Keys result(keys.size());
  for (const uint64_t key : keys)
    result[static_cast<std::size_t>(at[static_cast<std::size_t>(bucket_of(key, ranks))]++)] = key;
  return result;
}

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
    keys[i] = kernels::mix(static_cast<uint64_t>(kernel.rank) * keys.size() + i) % range;
  kernel.start();
  for (int64_t step = 0; step < kernel.repeats; ++step) {
    std::vector<int> counts;
    const Keys sent = grouped(keys, kernel.ranks, &counts);
    mine = kernels::exchange(kernel, sent, counts, 2 * kernel.n + 1024);
    std::sort(mine.begin(), mine.end());
  }
  kernel.stop();

  // Sorted, each in its interval, and all that was there: number, sum, and sum of hashes.
  bool right = true;
  for (const uint64_t key : mine) right = right && bucket_of(key, kernel.ranks) == kernel.rank;
  const auto sums = [](const Keys& of) {
    uint64_t plain = 0, hashed = 0;
    for (const uint64_t key : of) plain += key, hashed += kernels::mix(key);
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
