// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Partitioned communication: partitions arrive when, and only when, they were marked ready, also where both sides cut
// the data differently; pairs form in the order of the init calls.
#include <algorithm>
#include <vector>

#include "expect.hpp"

using expect::rank;
using expect::size;

namespace {

int value(int round, int i) {
  return round * 100003 + i * 5 + 2;
}

void fill(std::vector<int>& v, int round) {
  for (size_t i = 0; i < v.size(); ++i) v[i] = value(round, static_cast<int>(i));
}

int wrong(const std::vector<int>& v, int round, int first, int count) {
  int bad = 0;
  for (int i = first; i < first + count; ++i) bad += v[static_cast<size_t>(i)] != value(round, i);
  return bad;
}

bool arrived(MPI_Request request, int partition) {
  int flag = 0;
  MPI_Parrived(request, partition, &flag);
  return flag != 0;
}

// Around the ring; partitions are marked in a scattered order.
void ring(int send_partitions, int receive_partitions, int ints) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  std::vector<int> out(static_cast<size_t>(ints)), in(out.size());
  MPI_Request requests[2];
  const int per_receive = receive_partitions == 0 ? 0 : ints / receive_partitions;
  MPI_Psend_init(out.data(), send_partitions, ints / send_partitions, MPI_INT, to, 3, MPI_COMM_WORLD, MPI_INFO_NULL,
                 &requests[0]);
  MPI_Precv_init(in.data(), receive_partitions, per_receive, MPI_INT, from, 3, MPI_COMM_WORLD, MPI_INFO_NULL,
                 &requests[1]);
  for (int round = 0; round < 3; ++round) {
    fill(out, round);
    std::fill(in.begin(), in.end(), -1);
    MPI_Startall(2, requests);
    const int half = send_partitions / 2;
    for (int i = half; i < send_partitions; ++i) MPI_Pready(i, requests[0]);
    if (half > 0) MPI_Pready_range(0, half - 1, requests[0]);
    for (int i = receive_partitions - 1; i >= 0; --i) {
      while (!arrived(requests[1], i)) continue;
      const int bad = wrong(in, round, i * per_receive, per_receive);
      EXPECT(bad == 0, "%d -> %d partitions: %d wrong in partition %d of round %d", send_partitions, receive_partitions,
             bad, i, round);
    }
    MPI_Status statuses[2];
    MPI_Waitall(2, requests, statuses);
    int count = -1;
    MPI_Get_count(&statuses[1], MPI_INT, &count);
    EXPECT(count == ints && statuses[1].MPI_SOURCE == from && statuses[1].MPI_TAG == 3, "%d ints from %d, tag %d",
           count, statuses[1].MPI_SOURCE, statuses[1].MPI_TAG);
    EXPECT(wrong(in, round, 0, ints) == 0, "%d -> %d partitions", send_partitions, receive_partitions);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

// Rank 1 tells rank 0 what it has seen before more is marked ready.
void only_what_is_ready() {
  if (size < 2 || rank > 1) return;
  std::vector<int> data(12);
  MPI_Request request;
  int flag = 0;
  if (rank == 0) {
    MPI_Psend_init(data.data(), 4, 3, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    fill(data, 1);
    MPI_Start(&request);
    MPI_Pready(2, request);
    MPI_Recv(nullptr, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const int rest[] = {3, 0};
    MPI_Pready_list(2, rest, request);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    EXPECT(!flag, "complete before partition 1 was marked");
    MPI_Recv(nullptr, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Pready(1, request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    // Six partitions of two ints: the sender's partition 2 is ints 6 to 8, ours 3 and half of 4.
    MPI_Precv_init(data.data(), 6, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    while (!arrived(request, 3)) continue;
    for (int i : {0, 1, 2, 4, 5}) EXPECT(!arrived(request, i), "partition %d before it was marked", i);
    EXPECT(wrong(data, 1, 6, 2) == 0, "%d %d", data[6], data[7]);
    MPI_Send(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
    for (int i : {0, 4, 5}) {
      while (!arrived(request, i)) continue;
    }
    EXPECT(!arrived(request, 1) && !arrived(request, 2), "before the sender's partition 1");
    MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    EXPECT(!flag, "complete before all partitions came");
    MPI_Send(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(arrived(request, 1), "an inactive request has all");
    EXPECT(wrong(data, 1, 0, 12) == 0, "%d wrong", wrong(data, 1, 0, 12));
  }
  MPI_Request_free(&request);
}

// Two pairs with one tag, started in the other order on both sides, among ordinary messages with the same tag.
void pairs_by_init() {
  if (size < 2 || rank > 1) return;
  std::vector<int> data[2] = {std::vector<int>(4), std::vector<int>(4)};
  MPI_Request requests[2];
  for (int i = 0; i < 2; ++i) {
    if (rank == 0) {
      fill(data[i], 10 + i);
      MPI_Psend_init(data[i].data(), 2, 2, MPI_INT, 1, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
    } else {
      MPI_Precv_init(data[i].data(), 2, 2, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
    }
  }
  int plain = 42;
  if (rank == 0) {
    MPI_Start(&requests[1]);
    MPI_Pready_range(0, 1, requests[1]);
    MPI_Send(&plain, 1, MPI_INT, 1, 6, MPI_COMM_WORLD);
    MPI_Start(&requests[0]);
    MPI_Pready_range(0, 1, requests[0]);
  } else {
    plain = 0;
    MPI_Recv(&plain, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT(plain == 42, "%d", plain);
    MPI_Start(&requests[0]);
    MPI_Start(&requests[1]);
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 2; ++i) {
    EXPECT(wrong(data[i], 10 + i, 0, 4) == 0, "pair %d", i);
    MPI_Request_free(&requests[i]);
  }
}

// The receiver's type has gaps, and the sender's partitions end inside its elements.
void layouts_that_do_not_fit() {
  if (size < 2 || rank > 1) return;
  MPI_Request request;
  std::vector<int> data(24, -3);
  if (rank == 0) {
    data.resize(12);
    fill(data, 4);
    MPI_Psend_init(data.data(), 4, 3, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    for (int i : {1, 3, 0, 2}) MPI_Pready(i, request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Datatype vector, pair;
    MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, 4 * sizeof(int), &pair);
    MPI_Type_commit(&pair);
    MPI_Precv_init(data.data(), 3, 2, pair, 0, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Type_free(&pair);
    MPI_Type_free(&vector);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 24; ++i) {
      const int wanted = i % 2 == 1 ? -3 : value(4, i / 2);
      EXPECT(data[static_cast<size_t>(i)] == wanted, "int %d is %d, not %d", i, data[static_cast<size_t>(i)], wanted);
    }
  }
  MPI_Request_free(&request);
}

// A large partition moves while the receiver waits for something else.
void progress_elsewhere() {
  if (size < 2 || rank > 1) return;
  std::vector<int> data(200000);
  MPI_Request request;
  if (rank == 0) {
    fill(data, 2);
    MPI_Recv(nullptr, 0, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Psend_init(data.data(), 2, 100000, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Pready_range(0, 1, request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Send(nullptr, 0, MPI_INT, 1, 8, MPI_COMM_WORLD);
  } else {
    MPI_Precv_init(data.data(), 1, 200000, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Send(nullptr, 0, MPI_INT, 0, 8, MPI_COMM_WORLD);
    MPI_Recv(nullptr, 0, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(wrong(data, 2, 0, 200000) == 0, "%d wrong", wrong(data, 2, 0, 200000));
  }
  MPI_Request_free(&request);
}

void errors() {
  int data[4];
  MPI_Request send, receive, ordinary;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  EXPECT_CLASS(MPI_Psend_init(data, -1, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_INFO_NULL, &send), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Precv_init(data, 1, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_SELF, MPI_INFO_NULL, &receive),
               MPI_ERR_RANK);
  EXPECT_CLASS(MPI_Precv_init(data, 1, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_SELF, MPI_INFO_NULL, &receive),
               MPI_ERR_TAG);
  MPI_Psend_init(data, 2, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, MPI_INFO_NULL, &send);
  MPI_Precv_init(data, 2, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, MPI_INFO_NULL, &receive);
  EXPECT_CLASS(MPI_Pready(0, send), MPI_ERR_REQUEST);
  MPI_Start(&send);
  MPI_Start(&receive);
  EXPECT_CLASS(MPI_Pready(2, send), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Pready(0, receive), MPI_ERR_REQUEST);
  EXPECT_CLASS(MPI_Pready_range(0, 1, send), MPI_SUCCESS);
  EXPECT_CLASS(MPI_Pready(1, send), MPI_ERR_ARG);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  MPI_Recv_init(data, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &ordinary);
  int flag;
  EXPECT_CLASS(MPI_Parrived(ordinary, 0, &flag), MPI_ERR_REQUEST);
  EXPECT_CLASS(MPI_Parrived(receive, 9, &flag), MPI_ERR_ARG);
  MPI_Request_free(&ordinary);
  MPI_Request_free(&send);
  MPI_Request_free(&receive);
}

// A started one can be neither cancelled nor freed; it goes on as if nobody had tried.
void tied_while_active() {
  int value = expect::rank, got = -1;
  MPI_Request requests[2];
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Psend_init(&value, 1, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_INFO_NULL, &requests[0]);
  MPI_Precv_init(&got, 1, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_INFO_NULL, &requests[1]);
  MPI_Startall(2, requests);
  for (MPI_Request& request : requests) {
    EXPECT_CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
    MPI_Request same = request;
    EXPECT_CLASS(MPI_Request_free(&request), MPI_ERR_REQUEST);
    EXPECT(request == same, "the handle is gone");
  }
  MPI_Pready(0, requests[0]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  EXPECT(got == expect::rank, "%d came", got);
  for (MPI_Request& request : requests) MPI_Request_free(&request);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  ring(1, 1, 12);
  ring(4, 4, 12);
  ring(3, 4, 12);
  ring(12, 1, 12);
  ring(1, 6, 12);
  ring(5, 7, 35000);
  ring(4, 4, 400000);
  only_what_is_ready();
  pairs_by_init();
  layouts_that_do_not_fit();
  progress_elsewhere();
  errors();
  tied_while_active();
  return expect::finish();
}
