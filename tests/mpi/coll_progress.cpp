// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A collective operation goes on while its ranks wait for something else. The last rank completes its operation and
// only then tells its neighbour, which waits for that before it looks at its own request, and so on down to rank 0: the
// operation of the last rank needs steps of all others, so this ends only if ranks that wait for other things perform
// them.
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "expect.hpp"

using expect::rank;
using expect::size;

namespace {

constexpr int tag = 5;
MPI_Comm side;  // what ranks wait for meanwhile

using Wait = std::function<void(int from)>;

void by_receive(int from) {
  int word = 0;
  MPI_Recv(&word, 1, MPI_INT, from, tag, side, MPI_STATUS_IGNORE);
}
void by_any_source(int) {
  int word = 0;
  MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, tag, side, MPI_STATUS_IGNORE);
}
void by_probe(int from) {
  MPI_Probe(from, tag, side, MPI_STATUS_IGNORE);
  by_receive(from);
}
void by_test(int from) {
  int word = 0;
  int done = 0;
  MPI_Request request;
  MPI_Irecv(&word, 1, MPI_INT, from, tag, side, &request);
  while (done == 0) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}
void by_waitany(int from) {
  int word = 0;
  int index = 0;
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Irecv(&word, 1, MPI_INT, from, tag, side, &requests[1]);
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
}

void down_the_chain(MPI_Request& request, const Wait& wait) {
  if (rank + 1 < size) wait(rank + 1);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  int word = rank;
  if (rank > 0) MPI_Send(&word, 1, MPI_INT, rank - 1, tag, side);
}

void allreduce(int count, const Wait& wait) {
  std::vector<int64_t> in(static_cast<size_t>(count), rank + 1);
  std::vector<int64_t> out(in.size());
  MPI_Request request;
  MPI_Iallreduce(in.data(), out.data(), count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, &request);
  down_the_chain(request, wait);
  int64_t wrong = 0;
  for (int64_t v : out) wrong += v != int64_t{size} * (size + 1) / 2;
  EXPECT(wrong == 0, "%lld of %d sums are wrong", static_cast<long long>(wrong), count);
}

void bcast(int count, const Wait& wait) {
  std::vector<int> data(static_cast<size_t>(count), rank == 0 ? 17 : 0);
  MPI_Request request;
  MPI_Bcast_init(data.data(), count, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  down_the_chain(request, wait);
  int wrong = 0;
  for (int v : data) wrong += v != 17;
  EXPECT(wrong == 0, "%d of %d are wrong", wrong, count);
  MPI_Request_free(&request);
}

void barrier(const Wait& wait) {
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  down_the_chain(request, wait);
}

// The thread that waits for the operation sleeps, and another one performs its steps while it waits for messages.
void by_another_thread() {
  for (int i = 0; i < 20; ++i) {
    int64_t in = rank;
    int64_t out = 0;
    MPI_Request request;
    MPI_Iallreduce(&in, &out, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD, &request);
    std::thread waits([&] { MPI_Wait(&request, MPI_STATUS_IGNORE); });
    MPI_Barrier(side);
    waits.join();
    EXPECT(out == size - 1, "maximum %lld", static_cast<long long>(out));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool threads = argc > 1;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &side);
  for (const Wait& wait : {Wait(by_receive), Wait(by_any_source), Wait(by_probe), Wait(by_test), Wait(by_waitany)}) {
    barrier(wait);
    for (int count : {1, 1000, 100000}) {
      allreduce(count, wait);
      bcast(count, wait);
    }
  }
  if (threads) by_another_thread();
  MPI_Comm_free(&side);
  return expect::finish();
}
