// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// One more thread of a rank, beside those that send: it puts into its place in every rank's memory, gets that back, and
// counts at rank 0.
#include "threads_stress/windows.hpp"

#include <algorithm>
#include <vector>

namespace stress {

namespace {

constexpr size_t most = 40 << 10;
constexpr size_t room = most + sizeof(uint64_t);  // of a rank in another one's memory; behind the last lies the counter

}  // namespace

Windows::Windows(uint64_t seed) : random_(seed * 131 + static_cast<uint64_t>(rank)) {
  const auto bytes = static_cast<MPI_Aint>(room * static_cast<size_t>(size) + sizeof(uint64_t));
  OK(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory_, &window_));
  std::fill_n(memory_, bytes, static_cast<unsigned char>(0));
  MPI_Barrier(MPI_COMM_WORLD);
}

void Windows::run(double end) {
  OK(MPI_Win_lock_all(0, window_));
  std::vector<unsigned char> out(most), in(most);
  while (threads::now() < end) {
    const int target = random_.below(size);
    const bool large = random_.below(8) == 0;
    const size_t bytes = 1 + static_cast<size_t>(random_.below(large ? static_cast<int>(most) : 200));
    const auto at = static_cast<MPI_Aint>(room * static_cast<size_t>(rank));
    const uint64_t salt = random_.next();
    for (size_t i = 0; i < bytes; ++i)
      out[i] = static_cast<unsigned char>(salt >> (i % 8 * 8)) ^ static_cast<unsigned char>(i);
    std::fill_n(in.begin(), bytes, static_cast<unsigned char>(~out[0]));
    OK(MPI_Put(out.data(), static_cast<int>(bytes), MPI_BYTE, target, at, static_cast<int>(bytes), MPI_BYTE, window_));
    OK(MPI_Win_flush(target, window_));
    OK(MPI_Get(in.data(), static_cast<int>(bytes), MPI_BYTE, target, at, static_cast<int>(bytes), MPI_BYTE, window_));
    const uint64_t one = 1;
    OK(MPI_Accumulate(&one, 1, MPI_UINT64_T, 0, static_cast<MPI_Aint>(room * static_cast<size_t>(size)), 1,
                      MPI_UINT64_T, MPI_SUM, window_));
    ++puts_;
    OK(MPI_Win_flush_all(window_));
    const auto differs = std::mismatch(out.begin(), out.begin() + static_cast<ptrdiff_t>(bytes), in.begin()).first;
    EXPECT(differs == out.begin() + static_cast<ptrdiff_t>(bytes), "byte %td of %zu put to rank %d came back wrong",
           differs - out.begin(), bytes, target);
  }
  OK(MPI_Win_unlock_all(window_));
}

uint64_t Windows::finish() {
  uint64_t all = 0;
  MPI_Allreduce(&puts_, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  uint64_t counted = 0;
  std::copy_n(memory_ + room * static_cast<size_t>(size), sizeof counted, reinterpret_cast<unsigned char*>(&counted));
  EXPECT(rank != 0 || counted == all, "%llu updates of a counter, which says %llu",
         static_cast<unsigned long long>(all), static_cast<unsigned long long>(counted));
  OK(MPI_Win_free(&window_));
  return all;
}

}  // namespace stress
