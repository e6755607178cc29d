// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause

// C = A B of sparse matrices in blocks of rows: the blocks of B go round a ring, and each rank adds what they give to
// its rows of C (F. Gustavson, ACM Trans. Math. Softw. 4 (1978) 250). The next block travels while this one is used.

#include <array>
#include <cmath>
#include <vector>

#include "sparse.hpp"

namespace {

using kernels::Sparse;

// A block on its way: sizes first, then three messages.
class Ring {
 public:
  Ring(int rank, int ranks) : left_((rank + ranks - 1) % ranks), right_((rank + 1) % ranks) {}

  void start(const Sparse& block, Sparse* next) {
    const std::array<int, 2> mine = {static_cast<int>(block.first.size()), static_cast<int>(block.column.size())};
    std::array<int, 2> theirs = {};
    MPI_Sendrecv(mine.data(), 2, MPI_INT, left_, 0, theirs.data(), 2, MPI_INT, right_, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    next->first.resize(static_cast<std::size_t>(theirs[0]));
    next->column.resize(static_cast<std::size_t>(theirs[1]));
    next->value.resize(static_cast<std::size_t>(theirs[1]));
    MPI_Irecv(next->first.data(), theirs[0], MPI_INT, right_, 1, MPI_COMM_WORLD, &requests_[0]);
    MPI_Irecv(next->column.data(), theirs[1], MPI_INT, right_, 2, MPI_COMM_WORLD, &requests_[1]);
    MPI_Irecv(next->value.data(), theirs[1], MPI_DOUBLE, right_, 3, MPI_COMM_WORLD, &requests_[2]);
    MPI_Isend(block.first.data(), mine[0], MPI_INT, left_, 1, MPI_COMM_WORLD, &requests_[3]);
    MPI_Isend(block.column.data(), mine[1], MPI_INT, left_, 2, MPI_COMM_WORLD, &requests_[4]);
    MPI_Isend(block.value.data(), mine[1], MPI_DOUBLE, left_, 3, MPI_COMM_WORLD, &requests_[5]);
  }
  void finish() { MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE); }

 private:
  int left_, right_;
  std::array<MPI_Request, 6> requests_{};
};

}  // namespace

int main(int argc, char** argv) {
  kernels::Kernel kernel(argc, argv, "spgemm", 2048, 1, 1 << 20, "ring");
  const int64_t n = kernel.n;
  constexpr int each = 16;
  const int64_t from = kernels::first_of(n, kernel.rank, kernel.ranks),
                to = kernels::first_of(n, kernel.rank + 1, kernel.ranks);
  const Sparse a = kernels::make_sparse(n, from, to, each, 1), b = kernels::make_sparse(n, from, to, each, 2);
  Ring ring(kernel.rank, kernel.ranks);
  std::vector<std::vector<double>> c;  // dense rows: a row of the product is not sparse for long
  double products = 0;
  kernel.start();
  for (int64_t step = 0; step < kernel.repeats; ++step) {
    c.assign(static_cast<std::size_t>(to - from), std::vector<double>(static_cast<std::size_t>(n)));
    Sparse block = b, next;
    for (int turn = 0; turn < kernel.ranks; ++turn) {
      const int of = (kernel.rank + turn) % kernel.ranks;
      const bool more = turn + 1 < kernel.ranks;
      if (more) kernel.mpi([&] { ring.start(block, &next); });
      const int64_t low = kernels::first_of(n, of, kernel.ranks), high = low + block.rows();
      for (std::size_t i = 0; i < c.size(); ++i) {
        for (int e = a.first[i]; e < a.first[i + 1]; ++e) {
          const int k = a.column[static_cast<std::size_t>(e)];
          if (k < low || k >= high) continue;
          const auto row = static_cast<std::size_t>(k - low);
          for (int f = block.first[row]; f < block.first[row + 1]; ++f) {
            c[i][static_cast<std::size_t>(block.column[static_cast<std::size_t>(f)])] +=
                a.value[static_cast<std::size_t>(e)] * block.value[static_cast<std::size_t>(f)];
            products += 1;
          }
        }
      }
      if (more) kernel.mpi([&] { ring.finish(); });
      std::swap(block, next);
    }
  }
  kernel.stop();

  // C r = A (B r) for a random r; B is made anew.
  std::vector<double> r(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = kernels::unit(i);
  const std::vector<double> expected = kernels::times(a, kernels::times(kernels::make_sparse(n, 0, n, each, 2), r));
  bool right = true;
  for (std::size_t i = 0; i < c.size(); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < r.size(); ++j) sum += c[i][j] * r[j];
    right = right && std::fabs(sum - expected[i]) < 1e-11;
  }
  return kernel.finish(2e-9 * kernel.sum(products), "Gflop/s", right, "C r = A (B r) for a random r");
}
