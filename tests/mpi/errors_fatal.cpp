// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Errors that end the program: the test's row matches their messages.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "expect.hpp"

namespace {

bool asked(const char* wanted, char** argv) {
  return strcmp(argv[1], wanted) == 0;
}

void use_freed() {
  MPI_Comm dup, copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  copy = dup;
  MPI_Comm_free(&dup);
  int size;
  MPI_Comm_size(copy, &size);
}

// Rank 1 sends this many ints; the buffer of rank 0 holds ten.
void send_to(MPI_Comm halo, int count, int tag) {
  const std::vector<int> data(static_cast<size_t>(count), 1);
  MPI_Send(data.data(), count, MPI_INT, 0, tag, halo);
}

void receive_too_long(char** argv) {
  MPI_Comm halo;
  MPI_Comm_dup(MPI_COMM_WORLD, &halo);
  MPI_Comm_set_name(halo, "halo");
  const bool large = asked("recv_large", argv);
  int room[10] = {};
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (asked("bcast", argv) || asked("ibcast", argv)) {
    const int count = expect::rank == 1 ? 40 : 10;
    std::vector<int> data(40);
    if (asked("bcast", argv)) MPI_Bcast(data.data(), count, MPI_INT, 1, halo);
    if (asked("ibcast", argv)) {
      MPI_Ibcast(data.data(), count, MPI_INT, 1, halo, requests);
      MPI_Wait(requests, MPI_STATUS_IGNORE);
    }
  } else if (expect::rank == 1) {
    send_to(halo, large ? 1 << 20 : 40, 7);
  } else if (expect::rank == 0) {
    if (asked("recv", argv) || large) MPI_Recv(room, 10, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, halo, MPI_STATUS_IGNORE);
    if (asked("sendrecv", argv))
      MPI_Sendrecv(room, 0, MPI_INT, MPI_PROC_NULL, 0, room, 10, MPI_INT, 1, 7, halo, MPI_STATUS_IGNORE);
    if (asked("isendrecv", argv))
      MPI_Isendrecv(room, 0, MPI_INT, MPI_PROC_NULL, 0, room, 10, MPI_INT, 1, 7, halo, requests);
    if (asked("wait", argv) || asked("waitall", argv)) MPI_Irecv(room, 10, MPI_INT, 1, 7, halo, &requests[1]);
    if (asked("waitall", argv)) MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (MPI_Request& request : requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  int rank = 0;
  if (asked("early", argv)) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int status = argc > 2 ? atoi(argv[2]) : 7;
  if (asked("early_abort", argv)) MPI_Abort(MPI_COMM_WORLD, status);
  expect::start(&argc, &argv);
  if (expect::rank == 0) {
    if (asked("send", argv)) MPI_Comm_set_name(MPI_COMM_WORLD, nullptr);
    if (asked("freed", argv)) use_freed();
    if (asked("abort", argv)) MPI_Abort(MPI_COMM_WORLD, status);
  }
  if (argc > 2 && strcmp(argv[2], "too_long") == 0) receive_too_long(argv);
  MPI_Barrier(MPI_COMM_WORLD);  // ends with the job
  MPI_Finalize();
  if (asked("late", argv)) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  puts("nothing ended the program");
  return EXIT_FAILURE;
}
