// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A rank that is late disagrees with the others about a broadcast, while they are in the next operation already, in
// place. The broadcast ends with an error there; the next operation is right on all ranks.
#include <chrono>
#include <thread>
#include <vector>

#include "expect.hpp"

using expect::rank;
using expect::size;

namespace {

// The broadcast is of rank 0, so that the others do not wait for rank 1.
MPI_Comm broken() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const bool late = rank == 1;
  MPI_Barrier(comm);
  if (late) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  int data[2] = {};
  const int error = expect::class_of(MPI_Bcast(data, late ? 1 : 2, MPI_INT, 0, comm));
  EXPECT(error == (late ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "class %d", error);
  return comm;
}

void all_right(const std::vector<int>& data, int wanted, const char* what) {
  size_t i = 0;
  while (i < data.size() && data[i] == wanted) ++i;
  EXPECT(i == data.size(), "%s: %d instead of %d at %zu of %zu", what, data[i], wanted, i, data.size());
}

void reduced(int count) {
  MPI_Comm comm = broken();
  std::vector<int> data(static_cast<size_t>(count), rank + 1);
  EXPECT_CLASS(MPI_Allreduce(MPI_IN_PLACE, data.data(), count, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
  all_right(data, size * (size + 1) / 2, "allreduce");
  MPI_Comm_free(&comm);
}

void scattered(int count) {
  MPI_Comm comm = broken();
  std::vector<int> data(static_cast<size_t>(count * size), rank + 1);
  EXPECT_CLASS(MPI_Reduce_scatter_block(MPI_IN_PLACE, data.data(), count, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
  data.resize(static_cast<size_t>(count));
  all_right(data, size * (size + 1) / 2, "reduce_scatter_block");
  MPI_Comm_free(&comm);
}

void traded(int count) {
  MPI_Comm comm = broken();
  std::vector<int> data(static_cast<size_t>(count * size), rank);
  EXPECT_CLASS(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data.data(), count, MPI_INT, comm), MPI_SUCCESS);
  for (int r = 0; r < size; ++r) {
    const auto* block = data.data() + static_cast<ptrdiff_t>(r) * count;
    all_right(std::vector<int>(block, block + count), r, "alltoall");
  }
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  for (const int count : {1, 1000, 100000}) {
    reduced(count);
    scattered(count);
    traded(count);
  }
  return expect::finish();
}
