// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause

// Sorting a file of whole numbers that is larger than the memory allowed: -n millions of bytes in all, an eighth of a
// rank's part in memory at a time. A sample gives each rank an interval of keys. Pieces are read by MPI-IO, keys travel
// by MPI_Alltoallv, or, in outsort_hybrid, by OpenSHMEM; sorted runs go to a file of the rank; in the end each rank
// merges its runs into its part of the result. The files are in the current folder, and removed.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <queue>
#include <string>
#include <vector>

#include "buckets.hpp"

namespace {

using kernels::Keys;
constexpr int pieces = 8;

// A failed call ends the program: the library's message says why.
MPI_File open(MPI_Comm comm, const std::string& name, int mode) {
  MPI_File file = MPI_FILE_NULL;
  if (MPI_File_open(comm, name.c_str(), mode, MPI_INFO_NULL, &file) != MPI_SUCCESS) {
    std::fprintf(stderr, "outsort: cannot open %s in the current folder\n", name.c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL);
  return file;
}

// A run on the disk, read through a small buffer.
class Run {
 public:
  Run(MPI_File file, int64_t from, int64_t to, int64_t window) : file_(file), at_(from), end_(to), window_(window) {
    fill();
  }
  [[nodiscard]] bool empty() const { return next_ == buffer_.size(); }
  [[nodiscard]] uint64_t top() const { return buffer_[next_]; }
  void pop() {
    if (++next_ == buffer_.size()) fill();
  }

 private:
  void fill() {
    buffer_.resize(static_cast<std::size_t>(std::min(window_, end_ - at_)));
    next_ = 0;
    if (buffer_.empty()) return;
    MPI_File_read_at(file_, at_ * 8, buffer_.data(), static_cast<int>(buffer_.size()), MPI_UINT64_T, MPI_STATUS_IGNORE);
    at_ += static_cast<int64_t>(buffer_.size());
  }
  MPI_File file_;
  int64_t at_, end_, window_;
  Keys buffer_;
  std::size_t next_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
#ifdef WITH_SHMEM
  kernels::Kernel kernel(argc, argv, "outsort_hybrid", 16, 1, 1 << 20, "put");
  shmem_init();
#else
  kernels::Kernel kernel(argc, argv, "outsort", 16, 1, 1 << 20, "alltoallv");
#endif
  const int ranks = kernel.ranks;
  const auto here = static_cast<std::size_t>(kernel.rank);
  const int64_t keys = kernel.n * 1000000 / 8;
  const int64_t from = kernels::first_of(keys, kernel.rank, ranks),
                mine = kernels::first_of(keys, kernel.rank + 1, ranks) - from;
  constexpr int remove = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
  int process = static_cast<int>(getpid());  // of rank 0: several jobs may share a folder
  MPI_Bcast(&process, 1, MPI_INT, 0, MPI_COMM_WORLD);
  const std::string name = "outsort." + std::to_string(process) + ".";
  MPI_File input = open(MPI_COMM_WORLD, name + "in", remove), output = open(MPI_COMM_WORLD, name + "out", remove);
  MPI_File runs = open(MPI_COMM_SELF, name + std::to_string(kernel.rank), remove);
  const int64_t window = mine / pieces + 1;
  // The sums that tell whether a key is lost: plain, and of hashes.
  std::array<uint64_t, 2> before = {0, 0}, after = {0, 0};
  for (int64_t at = 0; at < mine; at += window) {
    Keys piece(static_cast<std::size_t>(std::min(window, mine - at)));
    for (std::size_t i = 0; i < piece.size(); ++i) {
      piece[i] = kernels::mix(static_cast<uint64_t>(from + at) + i);
      before[0] += piece[i];
      before[1] += kernels::mix(piece[i]);
    }
    MPI_File_write_at(input, (from + at) * 8, piece.data(), static_cast<int>(piece.size()), MPI_UINT64_T,
                      MPI_STATUS_IGNORE);
  }
  MPI_File_sync(input);

  bool right = true;
  int64_t count = 0;
  uint64_t lowest = ~uint64_t{0}, highest = 0;
  kernel.start();
  {
    // The bounds of intervals, from 64 keys of each rank.
    constexpr int sampled = 64;
    Keys sample(sampled), all(static_cast<std::size_t>(sampled) * static_cast<std::size_t>(ranks)), bounds;
    kernel.mpi([&] {
      MPI_File_read_at(input, from * 8, sample.data(), static_cast<int>(std::min<int64_t>(sampled, mine)), MPI_UINT64_T,
                       MPI_STATUS_IGNORE);
      MPI_Allgather(sample.data(), sampled, MPI_UINT64_T, all.data(), sampled, MPI_UINT64_T, MPI_COMM_WORLD);
    });
    std::sort(all.begin(), all.end());
    for (int r = 1; r < ranks; ++r) bounds.push_back(all[static_cast<std::size_t>(r) * sampled]);

    std::vector<int64_t> ends = {0};
    for (int piece = 0; piece < pieces; ++piece) {
      const int64_t low = kernels::first_of(mine, piece, pieces), high = kernels::first_of(mine, piece + 1, pieces);
      Keys part(static_cast<std::size_t>(high - low));
      kernel.mpi([&] {
        MPI_File_read_at_all(input, (from + low) * 8, part.data(), static_cast<int>(part.size()), MPI_UINT64_T,
                             MPI_STATUS_IGNORE);
      });
      std::sort(part.begin(), part.end());
      std::vector<int> counts;
      auto begin = part.begin();
      for (int r = 0; r < ranks; ++r) {
        const auto end =
            r + 1 < ranks ? std::lower_bound(begin, part.end(), bounds[static_cast<std::size_t>(r)]) : part.end();
        counts.push_back(static_cast<int>(end - begin));
        begin = end;
      }
      Keys got = kernels::exchange(kernel, part, counts, 2 * (keys / ranks / pieces) + 4096);
      std::sort(got.begin(), got.end());
      kernel.mpi([&] {
        MPI_File_write_at(runs, ends.back() * 8, got.data(), static_cast<int>(got.size()), MPI_UINT64_T,
                          MPI_STATUS_IGNORE);
      });
      ends.push_back(ends.back() + static_cast<int64_t>(got.size()));
    }

    // Merge into the place behind the keys of lower ranks.
    count = ends.back();
    int64_t place = 0;
    kernel.mpi([&] { MPI_Exscan(&count, &place, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD); });
    if (here == 0) place = 0;
    std::vector<Run> open_runs;
    open_runs.reserve(pieces);
    for (int piece = 0; piece < pieces; ++piece)
      open_runs.emplace_back(runs, ends[static_cast<std::size_t>(piece)], ends[static_cast<std::size_t>(piece) + 1],
                             window / (2 * pieces) + 1);
    using Top = std::pair<uint64_t, std::size_t>;
    std::priority_queue<Top, std::vector<Top>, std::greater<>> heap;
    for (std::size_t r = 0; r < open_runs.size(); ++r) {
      if (!open_runs[r].empty()) heap.emplace(open_runs[r].top(), r);
    }
    Keys out;
    const auto flush = [&] {
      kernel.mpi([&] {
        MPI_File_write_at(output, place * 8, out.data(), static_cast<int>(out.size()), MPI_UINT64_T, MPI_STATUS_IGNORE);
      });
      place += static_cast<int64_t>(out.size());
      out.clear();
    };
    while (!heap.empty()) {
      const auto [key, r] = heap.top();
      heap.pop();
      out.push_back(key);
      open_runs[r].pop();
      if (!open_runs[r].empty()) heap.emplace(open_runs[r].top(), r);
      if (static_cast<int64_t>(out.size()) == window / 2 + 1) flush();
    }
    flush();
    kernel.mpi([&] { MPI_File_sync(output); });
  }
  kernel.stop();

  // The result as it lies in the file: each rank reads its equal part, and the first key of the next one.
  MPI_Barrier(MPI_COMM_WORLD);
  uint64_t last = 0;
  for (int64_t at = 0; at < mine; at += window) {
    Keys piece(static_cast<std::size_t>(std::min(window, mine - at)));
    MPI_File_read_at(output, (from + at) * 8, piece.data(), static_cast<int>(piece.size()), MPI_UINT64_T,
                     MPI_STATUS_IGNORE);
    for (const uint64_t key : piece) {
      right = right && key >= last;
      last = key;
      lowest = std::min(lowest, key);
      highest = std::max(highest, key);
      after[0] += key;
      after[1] += kernels::mix(key);
    }
  }
  std::vector<uint64_t> lows(static_cast<std::size_t>(ranks)), highs(lows.size());
  MPI_Allgather(&lowest, 1, MPI_UINT64_T, lows.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
  MPI_Allgather(&highest, 1, MPI_UINT64_T, highs.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
  for (std::size_t r = 1; r < lows.size(); ++r) right = right && highs[r - 1] <= lows[r];
  MPI_Allreduce(MPI_IN_PLACE, before.data(), 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, after.data(), 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  right = right && before == after;
  for (MPI_File* file : {&input, &output, &runs}) MPI_File_close(file);
#ifdef WITH_SHMEM
  shmem_finalize();
#endif
  return kernel.finish(8e-6 * static_cast<double>(keys), "MB/s", right,
                       "the file is sorted, and has the keys of the start");
}
