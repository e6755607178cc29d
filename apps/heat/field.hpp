// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "device.hpp"
#include "traffic.hpp"

namespace heat {

// Where one rank's block lies: rank r is at (r / across, r % across) of a grid of blocks as square as the number of
// ranks allows. Points count from 1; a side without a neighbour is the edge of the plate.
struct Block {
  int row = 1, rows = 0;
  int column = 1, columns = 0;
  int up = MPI_PROC_NULL, down = MPI_PROC_NULL, left = MPI_PROC_NULL, right = MPI_PROC_NULL;

  static Block of(int rank, int ranks, int n);
  static int grid_rows(int ranks);  // blocks on top of each other
};

// A block of temperatures with one line of neighbours' values around it, now and one step later, in the memory of the
// host or of a device.
class Field {
 public:
  Field(const Block& block, Device* device);  // without a device the processor computes
  ~Field();
  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;

  // One step of the explicit scheme u += ratio (sum of the four neighbours - 4 u). The neighbours' values travel while
  // the points that do not need them are computed. With `change`, it receives the largest |new - old| of this block.
  void step(double ratio, Traffic& traffic, double* change);

  void set(const double* values);  // rows x columns, no gaps
  std::vector<double> values() const;
  // Brings all blocks into one n x n array at rank 0 (empty elsewhere), with no packing by hand: types describe both
  // sides.
  std::vector<double> gather(int n, Traffic& traffic) const;

 private:
  double* at(int row, int column) const { return now_ + static_cast<std::size_t>(row) * stride_ + column; }
  std::size_t bytes() const { return static_cast<std::size_t>(block_.rows + 2) * stride_ * sizeof(double); }
  double sweep(double ratio, int row, int rows, int column, int columns, bool measure);

  Block block_;
  int stride_;
  Device* device_;
  std::vector<double> memory_[2];  // of the host
  double *now_, *next_;
  MPI_Datatype row_, column_;
};

}  // namespace heat
