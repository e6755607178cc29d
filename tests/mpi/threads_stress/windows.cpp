// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// More threads of a rank, beside those that send, share a window: each puts into its place in every rank's memory, gets
// that back, and counts at rank 0.
#include "threads_stress/windows.hpp"

#include <algorithm>
#include <vector>

namespace stress {

namespace {

constexpr size_t most = 40 << 10;
constexpr size_t room = most + sizeof(uint64_t);  // of a thread in a rank's memory; behind the last lies the counter

size_t rooms() {
  return static_cast<size_t>(size) * static_cast<size_t>(Windows::threads);
}

}  // namespace

Windows::Windows(uint64_t seed) : seed_(seed) {
  const auto bytes = static_cast<MPI_Aint>(room * rooms() + sizeof(uint64_t));
  OK(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory_, &window_));
  std::fill_n(memory_, bytes, static_cast<unsigned char>(0));
  MPI_Barrier(MPI_COMM_WORLD);
}

void Windows::run(int thread, double end) {
  const int place = rank * threads + thread;
  Random random(seed_ * 131 + static_cast<uint64_t>(place));
  std::vector<unsigned char> out(most), in(most);
  while (threads::now() < end) {
    const int target = random.below(size);
    const bool large = random.below(8) == 0;
    const size_t bytes = 1 + static_cast<size_t>(random.below(large ? static_cast<int>(most) : 200));
    const auto at = static_cast<MPI_Aint>(room * static_cast<size_t>(place));
    const uint64_t salt = random.next();
    for (size_t i = 0; i < bytes; ++i)
      out[i] = static_cast<unsigned char>(salt >> (i % 8 * 8)) ^ static_cast<unsigned char>(i);
    std::fill_n(in.begin(), bytes, static_cast<unsigned char>(~out[0]));
    OK(MPI_Put(out.data(), static_cast<int>(bytes), MPI_BYTE, target, at, static_cast<int>(bytes), MPI_BYTE, window_));
    OK(MPI_Win_flush(target, window_));
    OK(MPI_Get(in.data(), static_cast<int>(bytes), MPI_BYTE, target, at, static_cast<int>(bytes), MPI_BYTE, window_));
    const uint64_t one = 1;
    OK(MPI_Accumulate(&one, 1, MPI_UINT64_T, 0, static_cast<MPI_Aint>(room * rooms()), 1, MPI_UINT64_T, MPI_SUM,
                      window_));
    ++puts_;
    OK(MPI_Win_flush_all(window_));
    const auto differs = std::mismatch(out.begin(), out.begin() + static_cast<ptrdiff_t>(bytes), in.begin()).first;
    EXPECT(differs == out.begin() + static_cast<ptrdiff_t>(bytes), "byte %td of %zu put to rank %d came back wrong",
           differs - out.begin(), bytes, target);
  }
}

uint64_t Windows::finish() {
  uint64_t all = 0;
  const uint64_t mine = puts_;
  MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  uint64_t counted = 0;
  std::copy_n(memory_ + room * rooms(), sizeof counted, reinterpret_cast<unsigned char*>(&counted));
  EXPECT(rank != 0 || counted == all, "%llu updates of a counter, which says %llu",
         static_cast<unsigned long long>(all), static_cast<unsigned long long>(counted));
  OK(MPI_Win_free(&window_));
  return all;
}

}  // namespace stress
