// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Messages through another ABI: around a ring in all forms, with the statuses that its programs read.
#include <mpi.h>

#include <cstring>
#include <vector>

#include "same.hpp"

namespace {

using expect::rank;
using expect::size;

void ring() {
  const int right = (rank + 1) % size;
  const int left = (rank + size - 1) % size;
  const int sent[2] = {rank, 100 + rank};
  int received[3] = {-1, -1, -1};
  MPI_Request requests[2];
  MPI_Status statuses[2];
  memset(statuses, 0x5a, sizeof statuses);
  MPI_Isend(sent, 2, MPI_INT, right, 7, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(received, 3, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]);
  SAME(MPI_Waitall(2, requests, statuses), MPI_SUCCESS);
  HOLDS(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
  HOLDS(received[0] == left && received[1] == 100 + left && received[2] == -1);
  HOLDS(statuses[1].MPI_SOURCE == left && statuses[1].MPI_TAG == 7);
  HOLDS(same::bytes_of(statuses[1]) == 8 && !same::is_cancelled(statuses[1]));
  int count = -1;
  MPI_Get_count(&statuses[1], MPI_INT, &count);
  SAME(count, 2);
  MPI_Get_count(&statuses[1], MPI_DOUBLE_INT, &count);
  SAME(count, MPI_UNDEFINED);
}

// The error field is written only by the calls that complete several requests.
void blocking() {
  const int peer = rank ^ 1;
  if (peer >= size) return;
  double value = rank + 0.5;
  double got = 0;
  MPI_Status status;
  status.MPI_ERROR = 77;
  if (rank < peer) {
    MPI_Send(&value, 1, MPI_DOUBLE, peer, 3, MPI_COMM_WORLD);
    MPI_Recv(&got, 1, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD, &status);
  } else {
    MPI_Recv(&got, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
    MPI_Ssend(&value, 1, MPI_DOUBLE, peer, 4, MPI_COMM_WORLD);
  }
  SAME(got, peer + 0.5);
  HOLDS(status.MPI_SOURCE == peer && status.MPI_TAG == (rank < peer ? 4 : 3) && status.MPI_ERROR == 77);
}

void nobody() {
  MPI_Status status;
  int value = 5;
  MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
  HOLDS(value == 5 && status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG &&
        same::bytes_of(status) == 0);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Wait(&request, &status);
  HOLDS(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
  HOLDS(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
}

// More requests than are converted on the stack; some of them null.
void many() {
  constexpr int count = 100;
  std::vector<MPI_Request> requests(2 * count, MPI_REQUEST_NULL);
  std::vector<MPI_Status> statuses(2 * count);
  std::vector<int> sent(count);
  std::vector<int> received(count, -1);
  for (int i = 0; i < count; i += 2) {
    sent[i] = 1000 * rank + i;
    MPI_Irecv(&received[i], 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD, &requests[2 * i]);
    MPI_Isend(&sent[i], 1, MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD, &requests[2 * i + 1]);
  }
  int left = 0;
  int index = -1;
  for (; left < 3; ++left) {
    HOLDS(MPI_Waitany(2 * count, requests.data(), &index, &statuses[0]) == MPI_SUCCESS);
    HOLDS(index >= 0 && requests[index] == MPI_REQUEST_NULL);
  }
  std::vector<int> indices(2 * count);
  while (true) {
    int done = 0;
    MPI_Waitsome(2 * count, requests.data(), &done, indices.data(), statuses.data());
    if (done == MPI_UNDEFINED) break;
    for (int i = 0; i < done; ++i) {
      if (indices[i] % 2 == 0)
        HOLDS(statuses[i].MPI_TAG == indices[i] / 2 && statuses[i].MPI_SOURCE == (rank + 1) % size);
    }
  }
  for (int i = 0; i < count; i += 2) SAME(received[i], 1000 * ((rank + 1) % size) + i);
  SAME(MPI_Waitall(2 * count, requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
}

void probes() {
  int value = rank;
  MPI_Request request;
  MPI_Isend(&value, 1, MPI_INT, (rank + 1) % size, 9, MPI_COMM_WORLD, &request);
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  MPI_Mprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &message, &status);
  HOLDS(message != MPI_MESSAGE_NULL && status.MPI_SOURCE == (rank + size - 1) % size);
  int got = -1;
  MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  HOLDS(got == (rank + size - 1) % size && message == MPI_MESSAGE_NULL);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Mprobe(MPI_PROC_NULL, 9, MPI_COMM_WORLD, &message, &status);
  HOLDS(message == MPI_MESSAGE_NO_PROC && status.MPI_SOURCE == MPI_PROC_NULL);
  MPI_Mrecv(&got, 1, MPI_INT, &message, &status);
  SAME(message, MPI_MESSAGE_NULL);
}

void persistent() {
  int sent = 0;
  int got = -1;
  MPI_Request requests[2];
  MPI_Send_init(&sent, 1, MPI_INT, (rank + 1) % size, 11, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(&got, 1, MPI_INT, (rank + size - 1) % size, 11, MPI_COMM_WORLD, &requests[1]);
  const MPI_Request before = requests[1];
  for (sent = 1; sent < 4; ++sent) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    HOLDS(got == sent && requests[1] == before);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  HOLDS(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
}

void cancelled() {
  int value = 0;
  MPI_Request request;
  MPI_Irecv(&value, 1, MPI_INT, rank, 13, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Status status;
  MPI_Wait(&request, &status);
  int flag = 0;
  MPI_Test_cancelled(&status, &flag);
  HOLDS(flag != 0 && same::is_cancelled(status));
}

// Counts beyond 32 bits, as programs that write statuses have them.
void large_statuses() {
  MPI_Status status{};
  MPI_Status_set_elements_x(&status, MPI_BYTE, MPI_Count{5} << 32 | 9);
  HOLDS(same::bytes_of(status) == (MPI_Count{5} << 32 | 9) && !same::is_cancelled(status));
  MPI_Status_set_cancelled(&status, 1);
  HOLDS(same::bytes_of(status) == (MPI_Count{5} << 32 | 9) && same::is_cancelled(status));
  MPI_Count elements = 0;
  MPI_Get_elements_x(&status, MPI_BYTE, &elements);
  HOLDS(elements == (MPI_Count{5} << 32 | 9));
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  for (auto* part : {ring, blocking, nobody, many, probes, persistent, cancelled, large_statuses}) {
    part();
    MPI_Barrier(MPI_COMM_WORLD);  // wildcards see the messages of their part alone
  }
  return expect::finish();
}
