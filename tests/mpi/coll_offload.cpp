// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Rounds of seven operations that may be offloaded, four of them below 100 bytes, on one communicator: for rows that
// say with TEST_EXPECT (counters.h) how many are, of all ranks. Results are right whatever becomes of them. A row for a
// library that not all systems have names it with TEST_LIBRARY: where Weft could not load it, the row is skipped.
#include <dlfcn.h>

#include <vector>

#include "expect.hpp"

using expect::rank;
using expect::size;

namespace {

void all_are(const std::vector<int>& data, int wanted, const char* what) {
  size_t i = 0;
  while (i < data.size() && data[i] == wanted) ++i;
  EXPECT(i == data.size(), "%s: %d instead of %d at %zu of %zu", what, data[i], wanted, i, data.size());
}

void broadcast(MPI_Comm comm, size_t count, int root) {
  std::vector<int> data(count, rank == root ? 41 + root : -1);
  MPI_Bcast(data.data(), static_cast<int>(count), MPI_INT, root, comm);
  all_are(data, 41 + root, "bcast");
}

void reduce(MPI_Comm comm, size_t count, int round) {
  const std::vector<int> mine(count, rank + round);
  std::vector<int> all(count, -1);
  MPI_Allreduce(mine.data(), all.data(), static_cast<int>(count), MPI_INT, MPI_SUM, comm);
  all_are(all, size * (size - 1) / 2 + size * round, "allreduce");
}

void reduce_in_place(MPI_Comm comm, size_t count, int round) {
  std::vector<int> data(count, rank + round);
  MPI_Allreduce(MPI_IN_PLACE, data.data(), static_cast<int>(count), MPI_INT, MPI_SUM, comm);
  all_are(data, size * (size - 1) / 2 + size * round, "allreduce in place");
}

bool library_is_missing() {
  const char* const library = std::getenv("TEST_LIBRARY");
  if (library == nullptr || dlopen(library, RTLD_NOW | RTLD_NOLOAD) != nullptr) return false;
  if (rank == 0) std::printf("skipped: there is no %s\n", library);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  if (library_is_missing()) {
    MPI_T_pvar_session_free(&counters_session);
    MPI_T_finalize();
    MPI_Finalize();
    return 77;
  }
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int round = 0; round < 20; ++round) {
    MPI_Barrier(comm);
    broadcast(comm, 1, round % size);
    reduce(comm, 1, round);
    reduce_in_place(comm, 2, round);
    broadcast(comm, 1000, round % size);
    reduce(comm, 5000, round);
    reduce_in_place(comm, 5000, round);
  }
  MPI_Comm_free(&comm);
  return expect::finish();
}
