// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "exact.hpp"

#include <cmath>
#include <cstddef>

namespace heat {
namespace {

constexpr double pi = 3.14159265358979323846;

struct Spot {
  double x, y;   // centre
  double width;  // standard deviation
  double peak;   // temperature in the centre
};

// A ring of eight around a wide one, and a cold pair: shapes that merge slowly enough to be worth a picture.
std::vector<Spot> spots() {
  std::vector<Spot> all = {{0.50, 0.50, 0.085, 0.75}, {0.13, 0.14, 0.05, -0.55}, {0.87, 0.86, 0.05, -0.55}};
  for (int i = 0; i < 8; ++i) {
    const double angle = (i + 0.35) * pi / 4;
    all.push_back({0.5 + 0.29 * std::cos(angle), 0.5 + 0.29 * std::sin(angle), 0.045, i % 2 == 0 ? 1.0 : 0.7});
  }
  return all;
}

}  // namespace

Exact::Exact(int n) : h_(1.0 / (n + 1)), step_(0.9 * h_ * h_ / 4), start_(modes * modes, 0.0) {
  // A Gaussian of variance w^2 has the sine amplitudes 2 sin(k pi x0) exp(-k^2 pi^2 w^2 / 2) per direction; the factor
  // 2 pi w^2 makes its centre `peak`.
  for (const Spot& spot : spots()) {
    const double scale = spot.peak * 2 * pi * spot.width * spot.width;
    for (int k = 1; k <= modes; ++k) {
      for (int l = 1; l <= modes; ++l) {
        start_[(k - 1) * modes + (l - 1)] += scale * 4 * std::sin(k * pi * spot.y) * std::sin(l * pi * spot.x) *
                                             std::exp(-(k * k + l * l) * pi * pi * spot.width * spot.width / 2);
      }
    }
  }
}

void Exact::fill(bool equation, int steps, int row, int rows, int column, int columns, double* out) const {
  std::vector<double> now(start_);
  for (int k = 1; k <= modes; ++k) {
    for (int l = 1; l <= modes; ++l) {
      const double sk = std::sin(k * pi * h_ / 2), sl = std::sin(l * pi * h_ / 2);
      now[(k - 1) * modes + (l - 1)] *= equation ? std::exp(-(k * k + l * l) * pi * pi * step_ * steps)
                                                 : std::pow(1 - 4 * step_ / (h_ * h_) * (sk * sk + sl * sl), steps);
    }
  }
  // out = S now C with S(i, k) = sin(k pi y_i), C(l, j) = sin(l pi x_j): one direction after the other.
  std::vector<double> across(static_cast<std::size_t>(modes) * columns, 0.0);
  for (int k = 0; k < modes; ++k) {
    for (int l = 0; l < modes; ++l) {
      for (int j = 0; j < columns; ++j) {
        across[static_cast<std::size_t>(k) * columns + j] +=
            now[k * modes + l] * std::sin((l + 1) * pi * (column + j) * h_);
      }
    }
  }
  for (int i = 0; i < rows; ++i) {
    double* line = out + static_cast<std::size_t>(i) * columns;
    for (int j = 0; j < columns; ++j) line[j] = 0;
    for (int k = 0; k < modes; ++k) {
      const double s = std::sin((k + 1) * pi * (row + i) * h_);
      for (int j = 0; j < columns; ++j) line[j] += s * across[static_cast<std::size_t>(k) * columns + j];
    }
  }
}

}  // namespace heat
