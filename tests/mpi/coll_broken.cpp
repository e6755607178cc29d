// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A rank that is late disagrees with the others about a broadcast, while they are in the next operation already. The
// broadcast ends with an error there. The next operation is right on all ranks where all wait for all, also in place;
// where not, on those that do not return an error. All operations behind it are right.
#include <chrono>
#include <thread>
#include <vector>

#include "expect.hpp"

using expect::rank;
using expect::size;

namespace {

// The broadcast is of rank 0, so that the others do not wait for rank 1. It comes when they have told it that theirs is
// over; most of them have begun the next operation by then.
MPI_Comm broken() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const bool late = rank == 1;
  MPI_Barrier(comm);
  if (late) {
    for (int i = 1; i < size; ++i) MPI_Recv(nullptr, 0, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  int data[2] = {};
  const int error = expect::class_of(MPI_Bcast(data, late ? 1 : 2, MPI_INT, 0, comm));
  EXPECT(error == (late ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "class %d", error);
  if (!late) MPI_Send(nullptr, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
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

void afterwards(MPI_Comm comm) {
  EXPECT_CLASS(MPI_Barrier(comm), MPI_SUCCESS);
  for (const int count : {1, 100000}) {
    std::vector<int> data(static_cast<size_t>(count), rank == 0 ? 7 : 0);
    EXPECT_CLASS(MPI_Bcast(data.data(), count, MPI_INT, 0, comm), MPI_SUCCESS);
    all_right(data, 7, "bcast");
  }
  MPI_Comm_free(&comm);
}

// Right, or an error of which some rank has one.
void right_or_not(int error, const std::vector<int>& data, int wanted, const char* what) {
  error = expect::class_of(error);
  EXPECT(error == MPI_SUCCESS || error == MPI_ERR_OTHER, "%s: class %d", what, error);
  if (error == MPI_SUCCESS) all_right(data, wanted, what);
}

void rooted(int count, int root) {
  const auto n = static_cast<size_t>(count);
  MPI_Comm comm = broken();
  std::vector<int> one(n, rank == root ? 5 : 0);
  right_or_not(MPI_Bcast(one.data(), count, MPI_INT, root, comm), one, 5, "bcast");
  afterwards(comm);

  comm = broken();
  one.assign(n, 3);
  std::vector<int> all(n * static_cast<size_t>(size), rank == root ? 0 : 3);
  right_or_not(MPI_Gather(one.data(), count, MPI_INT, all.data(), count, MPI_INT, root, comm), all, 3, "gather");
  afterwards(comm);

  comm = broken();
  all.assign(all.size(), 4);
  one.assign(n, 0);
  right_or_not(MPI_Scatter(all.data(), count, MPI_INT, one.data(), count, MPI_INT, root, comm), one, 4, "scatter");
  afterwards(comm);

  comm = broken();
  one.assign(n, 1);
  const int error = rank == root ? MPI_Reduce(MPI_IN_PLACE, one.data(), count, MPI_INT, MPI_SUM, root, comm)
                                 : MPI_Reduce(one.data(), nullptr, count, MPI_INT, MPI_SUM, root, comm);
  right_or_not(error, one, rank == root ? size : 1, "reduce");
  afterwards(comm);

  comm = broken();
  one.assign(n, 1);
  right_or_not(MPI_Scan(MPI_IN_PLACE, one.data(), count, MPI_INT, MPI_SUM, comm), one, rank + 1, "scan");
  afterwards(comm);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  for (const int count : {1, 1000, 100000}) {
    reduced(count);
    scattered(count);
    traded(count);
    for (const int root : {0, 1, size - 1}) rooted(count, root);
  }
  return expect::finish();
}
