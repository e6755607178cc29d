// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause

// The eight nearest neighbours of each of -n points in space. The points of all ranks go round: a circular buffer of
// two blocks, one in use while the other arrives.

#include <algorithm>
#include <array>
#include <vector>

#include "kernel.hpp"

namespace {

using Point = std::array<double, 3>;
constexpr std::size_t nearest = 8;
using Distances = std::array<double, nearest>;

Point point(int64_t index) {
  const auto i = static_cast<uint64_t>(index) * 3;
  return {kernels::unit(i), kernels::unit(i + 1), kernels::unit(i + 2)};
}

double square(const Point& a, const Point& b) {
  const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return x * x + y * y + z * z;
}

void insert(Distances* sorted, double distance) {
  if (distance >= sorted->back()) return;
  std::size_t at = nearest - 1;
  for (; at > 0 && (*sorted)[at - 1] > distance; --at) (*sorted)[at] = (*sorted)[at - 1];
  (*sorted)[at] = distance;
}

}  // namespace

int main(int argc, char** argv) {
  kernels::Kernel kernel(argc, argv, "knn", 4096, 16, 1 << 22, "ring");
  const int64_t n = kernel.n, from = kernels::first_of(n, kernel.rank, kernel.ranks);
  const int64_t mine = kernels::first_of(n, kernel.rank + 1, kernel.ranks) - from;
  const int left = (kernel.rank + kernel.ranks - 1) % kernel.ranks, right_rank = (kernel.rank + 1) % kernel.ranks;
  std::vector<Point> points;
  for (int64_t i = 0; i < mine; ++i) points.push_back(point(from + i));
  std::vector<Distances> found;
  std::array<std::vector<Point>, 2> ring;
  kernel.start();
  for (int64_t step = 0; step < kernel.repeats; ++step) {
    Distances none;
    none.fill(1e300);
    found.assign(points.size(), none);
    ring[0] = points;
    for (int turn = 0; turn < kernel.ranks; ++turn) {
      const std::vector<Point>& block = ring[static_cast<std::size_t>(turn % 2)];
      std::vector<Point>& next = ring[static_cast<std::size_t>((turn + 1) % 2)];
      std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
      const int of = (kernel.rank + turn) % kernel.ranks, coming = (of + 1) % kernel.ranks;
      if (turn + 1 < kernel.ranks) {
        next.resize(static_cast<std::size_t>(kernels::first_of(n, coming + 1, kernel.ranks) -
                                             kernels::first_of(n, coming, kernel.ranks)));
        kernel.mpi([&] {
          MPI_Irecv(next.data(), static_cast<int>(next.size()) * 3, MPI_DOUBLE, right_rank, 0, MPI_COMM_WORLD,
                    requests.data());
          MPI_Isend(block.data(), static_cast<int>(block.size()) * 3, MPI_DOUBLE, left, 0, MPI_COMM_WORLD,
                    &requests[1]);
        });
      }
      for (std::size_t i = 0; i < points.size(); ++i) {
        for (std::size_t j = 0; j < block.size(); ++j) {
          if (turn != 0 || i != j) insert(&found[i], square(points[i], block[j]));
        }
      }
      kernel.mpi([&] { MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE); });
    }
  }
  kernel.stop();

  // Some points against all others, without the ring and in another manner: all distances, sorted.
  bool right = true;
  for (int64_t i = 0; i < mine; i += 1 + mine / 16) {
    std::vector<double> all;
    for (int64_t j = 0; j < n; ++j) {
      if (j != from + i) all.push_back(square(points[static_cast<std::size_t>(i)], point(j)));
    }
    std::sort(all.begin(), all.end());
    right = right && std::equal(found[static_cast<std::size_t>(i)].begin(), found[static_cast<std::size_t>(i)].end(),
                                all.begin());
  }
  const double size = static_cast<double>(n);
  return kernel.finish(1e-6 * size * size * static_cast<double>(kernel.repeats), "million distances/s", right,
                       "samples against all distances, sorted");
}
