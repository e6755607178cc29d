// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Ranks of one job at different levels: even ones with one thread and one lane, odd ones at MPI_THREAD_MULTIPLE with
// several.
#include <mpi.h>

#include <cstdlib>
#include <vector>

#include "expect.hpp"

using expect::rank;
using expect::size;

namespace {

char filling(int from, int tag) {
  return static_cast<char>(from * 7 + tag % 5);
}

void exchange(int bytes, int tag) {
  const int right = (rank + 1) % size;
  const int left = (rank + size - 1) % size;
  const std::vector<char> out(static_cast<size_t>(bytes), filling(rank, tag));
  std::vector<char> in(static_cast<size_t>(bytes));
  MPI_Sendrecv(out.data(), bytes, MPI_CHAR, right, tag, in.data(), bytes, MPI_CHAR, left, tag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  for (char c : in) {
    if (c == filling(left, tag)) continue;
    EXPECT(false, "%d bytes with tag %d came wrong", bytes, tag);
    return;
  }
}

// Messages with different tags, small and large, received in the order they were sent.
void in_order(int count) {
  const int right = (rank + 1) % size;
  const int left = (rank + size - 1) % size;
  const auto bytes_of = [](int i) { return i % 7 == 3 ? 20000 : 8; };
  std::vector<char> out(20000);
  std::vector<char> in(20000);
  std::vector<MPI_Request> sends(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    MPI_Isend(out.data(), bytes_of(i), MPI_CHAR, right, i, MPI_COMM_WORLD, &sends[static_cast<size_t>(i)]);
  }
  for (int i = 0; i < count; ++i) {
    MPI_Status status;
    MPI_Recv(in.data(), 20000, MPI_CHAR, i % 2 == 0 ? left : MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    EXPECT(status.MPI_TAG == i, "tag %d instead of %d", status.MPI_TAG, i);
  }
  MPI_Waitall(count, sends.data(), MPI_STATUSES_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  const char* which = getenv("WEFT_RANK");
  if (which == nullptr) which = getenv("PMI_RANK");  // another launcher's
  const bool odd = which != nullptr && atoi(which) % 2 == 1;
  int provided;
  MPI_Init_thread(&argc, &argv, odd ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT((provided == MPI_THREAD_MULTIPLE) == (rank % 2 == 1), "level %d", provided);
  for (int bytes : {0, 1, 8, 100, 9000, 100000, 3000000}) {
    for (int tag = 0; tag < 20; ++tag) exchange(bytes, tag);
  }
  for (int count : {10, 200}) in_order(count);
  return expect::finish();
}
