// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The problem and its solution: u_t = u_xx + u_yy on the unit square, u = 0 on its edge. The start is a handful of hot
// spots written as a sum of the square's eigenmodes sin(k pi x) sin(l pi y). Each mode keeps its shape and decays
// alone, so the temperature is known at all times, both of the equation and of the difference scheme that approximates
// it.

#include <vector>

namespace heat {

class Exact {
 public:
  // The grid has n x n unknowns; point (i, j), counted from 1, lies at (i h, j h) with h = 1 / (n + 1).
  explicit Exact(int n);

  double step() const { return step_; }  // the time step: 0.9 of the largest stable one

  // Writes the temperature after `steps` steps on the points [row, row + rows) x [column, column + columns), row-major
  // without gaps. `equation` is the solution of the differential equation, otherwise that of the difference scheme,
  // which the program must reproduce to rounding.
  void fill(bool equation, int steps, int row, int rows, int column, int columns, double* out) const;

 private:
  static constexpr int modes = 40;  // per direction; the narrowest spot's mode 40 is below 1e-8 of its first

  double h_;
  double step_;
  std::vector<double> start_;  // modes x modes amplitudes at time zero
};

}  // namespace heat
