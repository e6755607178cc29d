// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "field.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace heat {
namespace {

constexpr int going_up = 1, going_down = 2, going_left = 3, going_right = 4, whole_block = 5;  // tags

// The first of `parts` shares of n and their length; the first n % parts get one more.
void share(int n, int parts, int part, int* first, int* length) {
  *length = n / parts + (part < n % parts ? 1 : 0);
  *first = 1 + part * (n / parts) + std::min(part, n % parts);
}

// Two functions instead of one with a flag, so that the compiler sees plain lines that do not overlap and vectorises
// them.
void line(const double* __restrict up, const double* __restrict here, const double* __restrict down,
          double* __restrict out, int length, double ratio) {
  for (int j = 0; j < length; ++j) {
    out[j] = here[j] + ratio * (up[j] + down[j] + here[j - 1] + here[j + 1] - 4 * here[j]);
  }
}

double measured_line(const double* __restrict up, const double* __restrict here, const double* __restrict down,
                     double* __restrict out, int length, double ratio) {
  double largest = 0;
  for (int j = 0; j < length; ++j) {
    const double change = ratio * (up[j] + down[j] + here[j - 1] + here[j + 1] - 4 * here[j]);
    out[j] = here[j] + change;
    largest = std::max(largest, std::fabs(change));
  }
  return largest;
}

}  // namespace

int Block::grid_rows(int ranks) {
  int rows = static_cast<int>(std::sqrt(ranks));
  while (ranks % rows != 0) --rows;
  return rows;
}

Block Block::of(int rank, int ranks, int n) {
  const int high = grid_rows(ranks), wide = ranks / high;
  const int i = rank / wide, j = rank % wide;
  Block block;
  share(n, high, i, &block.row, &block.rows);
  share(n, wide, j, &block.column, &block.columns);
  if (i > 0) block.up = rank - wide;
  if (i + 1 < high) block.down = rank + wide;
  if (j > 0) block.left = rank - 1;
  if (j + 1 < wide) block.right = rank + 1;
  return block;
}

Field::Field(const Block& block, Device* device)
    : block_(block), stride_(block.columns + 2), device_(device), row_(MPI_DATATYPE_NULL), column_(MPI_DATATYPE_NULL) {
  const std::size_t count = bytes() / sizeof(double);
  if (device_ != nullptr) {
    now_ = device_->allocate(count);
    next_ = device_->allocate(count);
  } else {
    for (std::vector<double>& memory : memory_) memory.resize(count, 0.0);
    now_ = memory_[0].data();
    next_ = memory_[1].data();
  }
  MPI_Type_contiguous(block_.columns, MPI_DOUBLE, &row_);
  MPI_Type_vector(block_.rows, 1, stride_, MPI_DOUBLE, &column_);
  MPI_Type_commit(&row_);
  MPI_Type_commit(&column_);
}

Field::~Field() {
  if (device_ != nullptr) {
    device_->release(now_);
    device_->release(next_);
  }
  MPI_Type_free(&row_);
  MPI_Type_free(&column_);
}

double Field::sweep(double ratio, int row, int rows, int column, int columns, bool measure) {
  double largest = 0;
  if (device_ != nullptr) {
    device_->start_sweep(now_, next_, stride_, ratio, row, rows, column, columns, measure);
    return 0;
  }
  for (int i = row; i < row + rows; ++i) {
    const double *up = at(i - 1, column), *here = at(i, column), *down = at(i + 1, column);
    double* out = next_ + static_cast<std::size_t>(i) * stride_ + column;
    if (measure) {
      largest = std::max(largest, measured_line(up, here, down, out, columns, ratio));
    } else {
      line(up, here, down, out, columns, ratio);
    }
  }
  return largest;
}

void Field::step(double ratio, Traffic& traffic, double* change) {
  const int rows = block_.rows, columns = block_.columns;
  std::array<MPI_Request, 8> request;
  traffic.timed([&] {
    MPI_Irecv(at(0, 1), 1, row_, block_.up, going_down, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(at(rows + 1, 1), 1, row_, block_.down, going_up, MPI_COMM_WORLD, &request[1]);
    MPI_Irecv(at(1, 0), 1, column_, block_.left, going_right, MPI_COMM_WORLD, &request[2]);
    MPI_Irecv(at(1, columns + 1), 1, column_, block_.right, going_left, MPI_COMM_WORLD, &request[3]);
    MPI_Isend(at(1, 1), 1, row_, block_.up, going_up, MPI_COMM_WORLD, &request[4]);
    MPI_Isend(at(rows, 1), 1, row_, block_.down, going_down, MPI_COMM_WORLD, &request[5]);
    MPI_Isend(at(1, 1), 1, column_, block_.left, going_left, MPI_COMM_WORLD, &request[6]);
    MPI_Isend(at(1, columns), 1, column_, block_.right, going_right, MPI_COMM_WORLD, &request[7]);
  });
  for (const int peer : {block_.up, block_.down}) {
    if (peer != MPI_PROC_NULL) traffic.sent(8.0 * columns);
  }
  for (const int peer : {block_.left, block_.right}) {
    if (peer != MPI_PROC_NULL) traffic.sent(8.0 * rows);
  }

  const bool measure = change != nullptr;
  double largest = sweep(ratio, 2, rows - 2, 2, columns - 2, measure);
  traffic.timed([&] { MPI_Waitall(static_cast<int>(request.size()), request.data(), MPI_STATUSES_IGNORE); });
  largest = std::max(largest, sweep(ratio, 1, 1, 1, columns, measure));
  if (rows > 1) largest = std::max(largest, sweep(ratio, rows, 1, 1, columns, measure));
  largest = std::max(largest, sweep(ratio, 2, rows - 2, 1, 1, measure));
  if (columns > 1) largest = std::max(largest, sweep(ratio, 2, rows - 2, columns, 1, measure));
  if (device_ != nullptr) largest = device_->finish(measure);
  if (measure) *change = largest;
  std::swap(now_, next_);
}

void Field::set(const double* values) {
  std::vector<double> all(bytes() / sizeof(double), 0.0);
  for (int i = 1; i <= block_.rows; ++i) {
    std::copy_n(values + static_cast<std::size_t>(i - 1) * block_.columns, block_.columns,
                all.data() + static_cast<std::size_t>(i) * stride_ + 1);
  }
  if (device_ != nullptr) {
    device_->copy(now_, all.data(), bytes());
  } else {
    std::copy(all.begin(), all.end(), now_);
  }
}

std::vector<double> Field::values() const {
  std::vector<double> out(static_cast<std::size_t>(block_.rows) * block_.columns), copied;
  const double* all = now_;
  if (device_ != nullptr) {
    copied.resize(bytes() / sizeof(double));
    device_->copy(copied.data(), now_, bytes());
    all = copied.data();
  }
  for (int i = 1; i <= block_.rows; ++i) {
    std::copy_n(all + static_cast<std::size_t>(i) * stride_ + 1, block_.columns,
                out.data() + static_cast<std::size_t>(i - 1) * block_.columns);
  }
  return out;
}

std::vector<double> Field::gather(int n, Traffic& traffic) const {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<double> whole;
  std::vector<MPI_Request> requests;
  std::vector<MPI_Datatype> types;
  if (rank == 0) {
    whole.resize(static_cast<std::size_t>(n) * n);
    for (int peer = 0; peer < ranks; ++peer) {
      const Block block = Block::of(peer, ranks, n);
      MPI_Datatype type;
      MPI_Type_vector(block.rows, block.columns, n, MPI_DOUBLE, &type);
      MPI_Type_commit(&type);
      types.push_back(type);
      double* corner = whole.data() + static_cast<std::size_t>(block.row - 1) * n + (block.column - 1);
      requests.push_back(MPI_REQUEST_NULL);
      traffic.timed([&] { MPI_Irecv(corner, 1, type, peer, whole_block, MPI_COMM_WORLD, &requests.back()); });
    }
  }
  MPI_Datatype mine;
  MPI_Type_vector(block_.rows, block_.columns, stride_, MPI_DOUBLE, &mine);
  MPI_Type_commit(&mine);
  traffic.timed([&] {
    MPI_Send(at(1, 1), 1, mine, 0, whole_block, MPI_COMM_WORLD);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  });
  traffic.sent(8.0 * block_.rows * block_.columns);
  MPI_Type_free(&mine);
  for (MPI_Datatype& type : types) MPI_Type_free(&type);
  return whole;
}

}  // namespace heat
