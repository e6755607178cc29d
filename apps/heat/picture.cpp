// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "../common/picture.hpp"

namespace heat {
namespace {

// Night blue, white-blue, near black in the middle would hide the weak spots: so a dark neutral, then fire.
constexpr std::array<std::array<double, 4>, 9> colours = {{
    {-1.00, 196, 240, 255},
    {-0.60, 60, 150, 235},
    {-0.25, 28, 58, 140},
    {0.00, 14, 12, 34},
    {0.18, 84, 18, 88},
    {0.38, 180, 44, 72},
    {0.60, 240, 108, 32},
    {0.82, 252, 196, 62},
    {1.00, 255, 252, 224},
}};

// Between the field's points, bilinear; outside them the edge's value, which is near zero anyway.
double sample(const double* field, int n, double row, double column) {
  row = std::clamp(row, 0.0, n - 1.0);
  column = std::clamp(column, 0.0, n - 1.0);
  const int i = std::min(static_cast<int>(row), std::max(n - 2, 0)),
            j = std::min(static_cast<int>(column), std::max(n - 2, 0));
  const double y = row - i, x = column - j;
  const int down = std::min(i + 1, n - 1), right = std::min(j + 1, n - 1);
  const auto at = [&](int a, int b) { return field[static_cast<std::size_t>(a) * n + b]; };
  return (1 - y) * ((1 - x) * at(i, j) + x * at(i, right)) + y * ((1 - x) * at(down, j) + x * at(down, right));
}

}  // namespace

void Picture::draw(const double* field, int n, double limit, int x, int y, int side) {
  constexpr double lines = 12;  // equal temperatures between zero and the limit
  for (int r = 0; r < side; ++r) {
    for (int c = 0; c < side; ++c) {
      const double row = (side - 0.5 - r) * n / side - 0.5, column = (c + 0.5) * n / side - 0.5;
      const double value = sample(field, n, row, column) / limit;
      auto rgb = common::colour_of(colours, std::clamp(value, -1.0, 1.0));
      // A line lies where the band changes between neighbours; half a field point looks far enough.
      const double next = static_cast<double>(n) / side;
      const auto band = [&](double v) { return std::floor(v * lines + 0.5); };
      const bool line = band(value) != band(sample(field, n, row, column + next) / limit) ||
                        band(value) != band(sample(field, n, row - next, column) / limit);
      const size_t at = 3 * (static_cast<std::size_t>(y + r) * width_ + x + c);
      for (int k = 0; k < 3; ++k) pixels_[at + k] = static_cast<uint8_t>(line ? rgb[k] * 0.72 + 255 * 0.06 : rgb[k]);
    }
  }
}

bool Picture::save(const char* path) const {
  return common::save_png(path, pixels_, width_, height_);
}

}  // namespace heat
