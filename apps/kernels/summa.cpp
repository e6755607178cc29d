// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause

// C = A B of dense matrices in blocks on a grid of ranks, by panels that are broadcast along rows and columns of the
// grid: R. van de Geijn and J. Watts, "SUMMA", Concurrency 9 (1997) 255.

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "kernel.hpp"

namespace {

constexpr int64_t panel = 64;

double a_at(int64_t n, int64_t i, int64_t j) {
  return kernels::unit(static_cast<uint64_t>(i * n + j)) - 0.5;
}
double b_at(int64_t n, int64_t i, int64_t j) {
  return kernels::unit(static_cast<uint64_t>((i + n) * n + j)) - 0.5;
}

int owner(int64_t n, int64_t index, int parts) {
  int part = static_cast<int>(index * parts / n);
  while (kernels::first_of(n, part + 1, parts) <= index) ++part;
  return part;
}

}  // namespace

int main(int argc, char** argv) {
  kernels::Kernel kernel(argc, argv, "summa", 512, 1, 1 << 15, "broadcast");
  const int64_t n = kernel.n;
  std::array<int, 2> grid = {0, 0};
  const std::array<int, 2> open = {0, 0};
  MPI_Dims_create(kernel.ranks, 2, grid.data());
  MPI_Comm cart = MPI_COMM_NULL, row = MPI_COMM_NULL, column = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 2, grid.data(), open.data(), 1, &cart);
  const std::array<int, 2> along = {0, 1}, across = {1, 0};
  MPI_Cart_sub(cart, along.data(), &row);
  MPI_Cart_sub(cart, across.data(), &column);
  int my_row = 0, my_column = 0;
  MPI_Comm_rank(column, &my_row);
  MPI_Comm_rank(row, &my_column);
  const int64_t i0 = kernels::first_of(n, my_row, grid[0]), rows = kernels::first_of(n, my_row + 1, grid[0]) - i0;
  const int64_t j0 = kernels::first_of(n, my_column, grid[1]),
                columns = kernels::first_of(n, my_column + 1, grid[1]) - j0;
  const auto block = [&](auto at) {
    std::vector<double> values(static_cast<std::size_t>(rows * columns));
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) values[static_cast<std::size_t>(i * columns + j)] = at(n, i0 + i, j0 + j);
    }
    return values;
  };
  const std::vector<double> a = block(a_at), b = block(b_at);
  std::vector<double> c(a.size()), left(static_cast<std::size_t>(rows * panel)),
      up(static_cast<std::size_t>(panel * columns));

  kernel.start();
  for (int64_t step = 0; step < kernel.repeats; ++step) {
    std::fill(c.begin(), c.end(), 0.0);
    for (int64_t k = 0, wide = 0; k < n; k += wide) {
      // A panel lies within one column of the grid for A, and within one row for B.
      const int of_a = owner(n, k, grid[1]), of_b = owner(n, k, grid[0]);
      const int64_t start_a = kernels::first_of(n, of_a, grid[1]), start_b = kernels::first_of(n, of_b, grid[0]);
      wide =
          std::min({panel, kernels::first_of(n, of_a + 1, grid[1]) - k, kernels::first_of(n, of_b + 1, grid[0]) - k});
      if (of_a == my_column) {
        for (int64_t i = 0; i < rows; ++i)
          std::copy_n(&a[static_cast<std::size_t>(i * columns + k - start_a)], wide,
                      &left[static_cast<std::size_t>(i * wide)]);
      }
      if (of_b == my_row)
        std::copy_n(&b[static_cast<std::size_t>((k - start_b) * columns)], wide * columns, up.begin());
      kernel.mpi([&] {
        MPI_Bcast(left.data(), static_cast<int>(rows * wide), MPI_DOUBLE, of_a, row);
        MPI_Bcast(up.data(), static_cast<int>(wide * columns), MPI_DOUBLE, of_b, column);
      });
      for (int64_t i = 0; i < rows; ++i) {
        double* to = &c[static_cast<std::size_t>(i * columns)];
        for (int64_t p = 0; p < wide; ++p) {
          const double factor = left[static_cast<std::size_t>(i * wide + p)];
          const double* from = &up[static_cast<std::size_t>(p * columns)];
          for (int64_t j = 0; j < columns; ++j) to[j] += factor * from[j];
        }
      }
    }
  }
  kernel.stop();

  // R. Freivalds' check: C r = A (B r) for a random r.
  const auto times = [&](const std::vector<double>& matrix, const std::vector<double>& vector) {
    std::vector<double> part(static_cast<std::size_t>(n)), whole(part.size());
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j)
        part[static_cast<std::size_t>(i0 + i)] +=
            matrix[static_cast<std::size_t>(i * columns + j)] * vector[static_cast<std::size_t>(j0 + j)];
    }
    MPI_Allreduce(part.data(), whole.data(), static_cast<int>(n), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return whole;
  };
  std::vector<double> r(static_cast<std::size_t>(n));
  for (int64_t i = 0; i < n; ++i) r[static_cast<std::size_t>(i)] = kernels::unit(static_cast<uint64_t>(2 * n * n + i));
  const std::vector<double> direct = times(c, r), checked = times(a, times(b, r));
  bool right = true;
  for (std::size_t i = 0; i < r.size(); ++i)
    right = right &&
            std::fabs(direct[i] - checked[i]) <= 1e-14 * static_cast<double>(n) * std::sqrt(static_cast<double>(n));
  for (MPI_Comm* comm : {&row, &column, &cart}) MPI_Comm_free(comm);
  const double size = static_cast<double>(n);
  return kernel.finish(2e-9 * size * size * size * static_cast<double>(kernel.repeats), "Gflop/s", right,
                       "C r = A (B r) for a random r");
}
