// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// WEFT_REPRODUCIBLE=on: sums of floating-point numbers have the bits of one association, that of a binomial tree over
// the ranks, by every reduction, whatever the root, the algorithm, the hosts and the form of the call.
#include <cmath>
#include <cstring>
#include <vector>

#include "expect.hpp"

#define OK(call) EXPECT_CLASS(call, MPI_SUCCESS)

using expect::rank;
using expect::size;

namespace {

constexpr int per_rank = 37;

// Numbers whose sum depends on the order of additions.
double number(int of, int i) {
  const double sign = (of + i) % 2 == 0 ? 1 : -1;
  return sign * std::ldexp(1.0 + of * 0.1 + i * 0.001, (of * 7 + i * 3) % 50);
}

// The result that all must have: a rank takes in its children, the nearest first.
std::vector<double> expected(int count) {
  std::vector<double> sums;
  for (int i = 0; i < count; ++i) {
    std::vector<double> parts;
    for (int r = 0; r < size; ++r) parts.push_back(number(r, i));
    for (int distance = 1; distance < size; distance *= 2) {
      for (int r = 0; r + distance < size; r += 2 * distance) parts[r] += parts[r + distance];
    }
    sums.push_back(parts[0]);
  }
  return sums;
}

void same_bits(const std::vector<double>& got, const double* wanted, const char* by) {
  EXPECT(std::memcmp(got.data(), wanted, got.size() * sizeof(double)) == 0, "%s: other bits", by);
}

void reduces(int count) {
  const std::vector<double> wanted = expected(count);
  std::vector<double> mine;
  for (int i = 0; i < count; ++i) mine.push_back(number(rank, i));
  std::vector<double> got(static_cast<size_t>(count));
  for (int root = 0; root < size; ++root) {
    OK(MPI_Reduce(mine.data(), got.data(), count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD));
    if (rank == root) same_bits(got, wanted.data(), "MPI_Reduce");
  }
  OK(MPI_Allreduce(mine.data(), got.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  same_bits(got, wanted.data(), "MPI_Allreduce");
  got = mine;
  OK(MPI_Allreduce(MPI_IN_PLACE, got.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  same_bits(got, wanted.data(), "MPI_Allreduce in place");
  MPI_Request request;
  std::fill(got.begin(), got.end(), 0);
  OK(MPI_Iallreduce(mine.data(), got.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  same_bits(got, wanted.data(), "MPI_Iallreduce");
  OK(MPI_Reduce_init(mine.data(), got.data(), count, MPI_DOUBLE, MPI_SUM, size - 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &request));
  OK(MPI_Start(&request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_Request_free(&request));
  if (rank == size - 1) same_bits(got, wanted.data(), "MPI_Reduce_init");
}

void scatters() {
  const std::vector<double> wanted = expected(per_rank * size);
  std::vector<double> mine;
  for (int i = 0; i < per_rank * size; ++i) mine.push_back(number(rank, i));
  std::vector<double> got(per_rank);
  OK(MPI_Reduce_scatter_block(mine.data(), got.data(), per_rank, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  same_bits(got, wanted.data() + rank * per_rank, "MPI_Reduce_scatter_block");
  std::vector<int> counts(static_cast<size_t>(size), per_rank);
  std::fill(got.begin(), got.end(), 0);
  OK(MPI_Reduce_scatter(mine.data(), got.data(), counts.data(), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  same_bits(got, wanted.data() + rank * per_rank, "MPI_Reduce_scatter");
}

// A prefix has bits that depend on the ranks before alone: as in a smaller communicator, whatever comes behind.
void scans() {
  const double mine = number(rank, 1);
  double all = 0, few = 0;
  OK(MPI_Scan(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
  MPI_Comm comm;
  OK(MPI_Comm_split(MPI_COMM_WORLD, rank < (size + 1) / 2 ? 0 : MPI_UNDEFINED, rank, &comm));
  if (comm == MPI_COMM_NULL) return;
  OK(MPI_Scan(&mine, &few, 1, MPI_DOUBLE, MPI_SUM, comm));
  EXPECT(std::memcmp(&all, &few, sizeof all) == 0, "MPI_Scan: other bits");
  OK(MPI_Comm_free(&comm));
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int count : {1, 100, 5000, 40000}) reduces(count);
  scatters();
  scans();
  return expect::finish();
}
