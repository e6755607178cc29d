// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include "kernel.hpp"

namespace kernels {

// Rows of a sparse matrix, compressed: the entries of row i are first[i] to first[i + 1].
struct Sparse {
  std::vector<int> first{0}, column;
  std::vector<double> value;
  [[nodiscard]] int rows() const { return static_cast<int>(first.size()) - 1; }
};

// Rows from..to of an n x n matrix number `which`, with about `each` entries in a row at places that depend on nothing
// else.
inline Sparse make_sparse(int64_t n, int64_t from, int64_t to, int each, uint64_t which) {
  Sparse matrix;
  for (int64_t i = from; i < to; ++i) {
    std::vector<int> places;
    for (int e = 0; e < each; ++e) {
      const uint64_t index =
          (which * static_cast<uint64_t>(n) + static_cast<uint64_t>(i)) * 1024 + static_cast<uint64_t>(e);
      places.push_back(static_cast<int>(mix(index) % static_cast<uint64_t>(n)));
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    for (const int place : places) {
      matrix.column.push_back(place);
      matrix.value.push_back(unit(mix(static_cast<uint64_t>(i * n + place) ^ which)) - 0.5);
    }
    matrix.first.push_back(static_cast<int>(matrix.column.size()));
  }
  return matrix;
}

inline std::vector<double> times(const Sparse& matrix, const std::vector<double>& x) {
  std::vector<double> y(static_cast<std::size_t>(matrix.rows()));
  for (std::size_t i = 0; i < y.size(); ++i) {
    for (int e = matrix.first[i]; e < matrix.first[i + 1]; ++e)
      y[i] += matrix.value[static_cast<std::size_t>(e)] *
              x[static_cast<std::size_t>(matrix.column[static_cast<std::size_t>(e)])];
  }
  return y;
}

}  // namespace kernels
