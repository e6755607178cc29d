// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause

// y = a x + y of vectors spread over the ranks, then the dot product of x and y.

#include <cmath>
#include <vector>

#include "kernel.hpp"

int main(int argc, char** argv) {
  kernels::Kernel kernel(argc, argv, "daxpy", 1 << 20, 1, 1LL << 40, "allreduce");
  const int64_t from = kernels::first_of(kernel.n, kernel.rank, kernel.ranks);
  const auto mine = static_cast<std::size_t>(kernels::first_of(kernel.n, kernel.rank + 1, kernel.ranks) - from);
  std::vector<double> x(mine), y(mine);
  // Small whole numbers: sums are exact in any order.
  for (std::size_t i = 0; i < mine; ++i) x[i] = static_cast<double>((from + static_cast<int64_t>(i)) % 8);

  double dot = 0;
  bool right = true;
  kernel.start();
  for (int64_t step = 0; step < kernel.repeats; ++step) {
    double part = 0;
    for (std::size_t i = 0; i < mine; ++i) y[i] += 2.0 * x[i];
    for (std::size_t i = 0; i < mine; ++i) part += x[i] * y[i];
    kernel.mpi([&] { MPI_Allreduce(&part, &dot, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); });
  }
  kernel.stop();
  // The squares of 0 to 7 sum to 140.
  int64_t squares = kernel.n / 8 * 140;
  for (int64_t i = 0; i < kernel.n % 8; ++i) squares += i * i;
  right = dot == static_cast<double>(2 * squares * kernel.repeats);
  return kernel.finish(4e-9 * static_cast<double>(kernel.n * kernel.repeats), "Gflop/s", right,
                       "the sum is the one that is known");
}
