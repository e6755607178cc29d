// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause

// y = A x of a sparse matrix in blocks of rows, again and again with y in the place of x. The parts of x come by
// MPI_Allgatherv, or each rank fetches those that its columns name from a window.

#include <cmath>
#include <vector>

#include "sparse.hpp"

int main(int argc, char** argv) {
  kernels::Kernel kernel(argc, argv, "spmv", 2048, 1, 1 << 22, "allgatherv window");
  const int64_t n = kernel.n;
  constexpr int each = 20;
  std::vector<int> counts, before;
  for (int r = 0; r < kernel.ranks; ++r) {
    before.push_back(static_cast<int>(kernels::first_of(n, r, kernel.ranks)));
    counts.push_back(static_cast<int>(kernels::first_of(n, r + 1, kernel.ranks)) - before.back());
  }
  const auto me = static_cast<std::size_t>(kernel.rank);
  const kernels::Sparse a = kernels::make_sparse(n, before[me], before[me] + counts[me], each, 1);
  double* own = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_allocate(static_cast<MPI_Aint>(counts[me]) * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &window);
  for (int i = 0; i < counts[me]; ++i)
    own[i] = kernels::unit(static_cast<uint64_t>(before[me]) + static_cast<uint64_t>(i));
  std::vector<double> x(static_cast<std::size_t>(n));

  // The ranks whose parts of x this rank needs.
  std::vector<bool> needed(counts.size());
  for (const int column : a.column) {
    for (std::size_t r = 0; r < counts.size(); ++r)
      needed[r] = needed[r] || (column >= before[r] && column < before[r] + counts[r]);
  }
  const bool one_sided = kernel.way == "window";
  MPI_Win_fence(0, window);
  kernel.start();
  for (int64_t step = 0; step < kernel.repeats; ++step) {
    kernel.mpi([&] {
      if (one_sided) {
        for (std::size_t r = 0; r < counts.size(); ++r) {
          if (needed[r])
            MPI_Get(x.data() + before[r], counts[r], MPI_DOUBLE, static_cast<int>(r), 0, counts[r], MPI_DOUBLE, window);
        }
        MPI_Win_fence(0, window);
      } else {
        MPI_Allgatherv(own, counts[me], MPI_DOUBLE, x.data(), counts.data(), before.data(), MPI_DOUBLE, MPI_COMM_WORLD);
      }
    });
    const std::vector<double> y = kernels::times(a, x);
    std::copy(y.begin(), y.end(), own);
    if (one_sided) kernel.mpi([&] { MPI_Win_fence(0, window); });
  }
  kernel.stop();

  // Each rank repeats it alone: the sums of a row have one order, so that the numbers are equal.
  const kernels::Sparse whole = kernels::make_sparse(n, 0, n, each, 1);
  std::vector<double> expected(static_cast<std::size_t>(n));
  for (int64_t i = 0; i < n; ++i) expected[static_cast<std::size_t>(i)] = kernels::unit(static_cast<uint64_t>(i));
  for (int64_t step = 0; step < kernel.repeats; ++step) expected = kernels::times(whole, expected);
  const bool right = std::equal(own, own + counts[me], expected.begin() + before[me]);
  MPI_Win_free(&window);
  return kernel.finish(2e-9 * static_cast<double>(whole.column.size()) * static_cast<double>(kernel.repeats), "Gflop/s",
                       right, "equal to the product of one rank");
}
