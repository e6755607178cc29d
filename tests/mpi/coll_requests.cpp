// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Requests of nonblocking and persistent collective operations: their life, their status, what may be done to them and
// what is an error, and wrong arguments.
#include <vector>

#include "expect.hpp"

using expect::rank;
using expect::size;

namespace {

MPI_Comm comm;

// Rank 0 begins; the others follow when it tells them, so that its operation is under way until then.
void tell_the_others() {
  int word = 0;
  if (rank == 0) {
    for (int r = 1; r < size; ++r) MPI_Send(&word, 1, MPI_INT, r, 0, comm);
  } else {
    MPI_Recv(&word, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
  }
}

void cannot_be_freed_or_cancelled_under_way() {
  MPI_Request request, again;
  MPI_Barrier_init(comm, MPI_INFO_NULL, &again);
  if (rank != 0) tell_the_others();
  MPI_Ibarrier(comm, &request);
  MPI_Start(&again);
  EXPECT_CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
  EXPECT_CLASS(MPI_Start(&request), MPI_ERR_REQUEST);
  EXPECT_CLASS(MPI_Start(&again), MPI_ERR_REQUEST);
  if (rank == 0 && size > 1) {
    EXPECT_CLASS(MPI_Request_free(&request), MPI_ERR_REQUEST);
    EXPECT_CLASS(MPI_Request_free(&again), MPI_ERR_REQUEST);
    EXPECT(request != MPI_REQUEST_NULL && again != MPI_REQUEST_NULL, "the requests are gone");
  }
  if (rank == 0) tell_the_others();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT(request == MPI_REQUEST_NULL, "the request is still there");
  MPI_Wait(&again, MPI_STATUS_IGNORE);
  MPI_Request_free(&again);
}

void persistent_ones_live_until_freed() {
  int value = 0;
  MPI_Request request;
  MPI_Bcast_init(&value, 1, MPI_INT, size - 1, comm, MPI_INFO_NULL, &request);
  MPI_Status status;
  MPI_Wait(&request, &status);  // it returns at once, as the request is inactive
  EXPECT(status.MPI_SOURCE == MPI_ANY_SOURCE, "source %d", status.MPI_SOURCE);
  EXPECT_CLASS(MPI_Cancel(&request), MPI_ERR_REQUEST);
  for (int round = 1; round < 20; ++round) {
    value = rank == size - 1 ? round : 0;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(value == round, "%d in round %d", value, round);
    EXPECT(request != MPI_REQUEST_NULL, "the request is gone");
  }
  MPI_Request_free(&request);
  EXPECT(request == MPI_REQUEST_NULL, "the request is still there");
}

// They may be started in another order on each rank: which belong together was settled when they were made.
void persistent_ones_in_any_order() {
  constexpr int number = 6;
  int in[number], out[number];
  MPI_Request requests[number], turned[number];
  for (int i = 0; i < number; ++i) {
    MPI_Allreduce_init(&in[i], &out[i], 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[i]);
  }
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < number; ++i) {
      in[i] = i * 100 + round;
      out[i] = -1;
      turned[i] = requests[(i + rank) % number];
    }
    MPI_Startall(number, turned);
    MPI_Waitall(number, turned, MPI_STATUSES_IGNORE);
    for (int i = 0; i < number; ++i) EXPECT(out[i] == size * in[i], "operation %d: %d", i, out[i]);
  }
  for (MPI_Request& r : requests) MPI_Request_free(&r);
}

void status_and_looking() {
  MPI_Request request;
  MPI_Ibarrier(comm, &request);
  int done = 0;
  MPI_Status status;
  while (done == 0) MPI_Request_get_status(request, &done, &status);
  int cancelled = 1;
  MPI_Test_cancelled(&status, &cancelled);
  EXPECT(cancelled == 0, "cancelled");
  EXPECT(request != MPI_REQUEST_NULL, "the request is gone");
  MPI_Request_free(&request);  // it is complete
  EXPECT(request == MPI_REQUEST_NULL, "the request is still there");
}

// The communicator, and what the call was given, may be freed while the operation is under way.
void handles_may_be_freed() {
  MPI_Comm other;
  MPI_Comm_dup(comm, &other);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  std::vector<int> in{rank, -rank};
  std::vector<int> out(static_cast<size_t>(2 * size));
  MPI_Request request;
  MPI_Iallgather(in.data(), 1, pair, out.data(), 1, pair, other, &request);
  MPI_Type_free(&pair);
  MPI_Comm_free(&other);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int r = 0; r < size; ++r) {
    const auto at = static_cast<size_t>(2 * r);
    EXPECT(out[at] == r && out[at + 1] == -r, "%d, %d of rank %d", out[at], out[at + 1], r);
  }
}

void many_at_once() {
  constexpr int number = 500;
  std::vector<int> in(number), out(number, -1);
  std::vector<MPI_Request> requests(number);
  for (int i = 0; i < number; ++i) {
    const auto at = static_cast<size_t>(i);
    in[at] = i + rank;
    MPI_Iallreduce(&in[at], &out[at], 1, MPI_INT, MPI_MAX, comm, &requests[at]);
  }
  MPI_Waitall(number, requests.data(), MPI_STATUSES_IGNORE);
  int wrong = 0;
  for (int i = 0; i < number; ++i) wrong += out[static_cast<size_t>(i)] != i + size - 1;
  EXPECT(wrong == 0, "%d of %d are wrong", wrong, number);
}

void too_long_is_an_error_at_the_end() {
  int data[4] = {1, 2, 3, 4};
  MPI_Request request;
  MPI_Ibcast(data, rank == 0 ? 4 : 2, MPI_INT, 0, comm, &request);
  const int error = MPI_Wait(&request, MPI_STATUS_IGNORE);
  // The ranks that receive from the root itself depend on the algorithm; the others get as much as fits into their
  // buffers.
  const int is_error = expect::class_of(error) == MPI_ERR_TRUNCATE ? 1 : 0;
  EXPECT(is_error == 1 || error == MPI_SUCCESS, "class %d", expect::class_of(error));
  int errors = 0;
  MPI_Allreduce(&is_error, &errors, 1, MPI_INT, MPI_SUM, comm);
  EXPECT((errors > 0) == (size > 1), "%d of %d ranks noticed", errors, size);
}

void wrong_arguments() {
  int a[64], b[64];
  MPI_Request request;
  EXPECT_CLASS(MPI_Ibarrier(comm, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Ibarrier(MPI_COMM_NULL, &request), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Ibcast(a, 1, MPI_INT, size, comm, &request), MPI_ERR_ROOT);
  EXPECT_CLASS(MPI_Ibcast(a, -1, MPI_INT, 0, comm, &request), MPI_ERR_COUNT);
  EXPECT_CLASS(MPI_Ibcast(a, 1, MPI_DATATYPE_NULL, 0, comm, &request), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_Ibcast(nullptr, 1, MPI_INT, 0, comm, &request), MPI_ERR_BUFFER);
  EXPECT_CLASS(MPI_Iallreduce(a, b, 1, MPI_FLOAT, MPI_BAND, comm, &request), MPI_ERR_OP);
  EXPECT_CLASS(MPI_Iallreduce(a, a, 1, MPI_INT, MPI_SUM, comm, &request), MPI_ERR_BUFFER);
  EXPECT_CLASS(MPI_Iallgatherv(a, 1, MPI_INT, b, nullptr, nullptr, MPI_INT, comm, &request), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Ireduce_scatter(a, b, nullptr, MPI_INT, MPI_SUM, comm, &request), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Barrier_init(comm, MPI_INFO_NULL, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Barrier_init(comm, reinterpret_cast<MPI_Info>(static_cast<intptr_t>(0x7f10)), &request),
               MPI_ERR_INFO);
  EXPECT_CLASS(MPI_Allreduce_init(a, b, -2, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request), MPI_ERR_COUNT);
}

void info_is_taken() {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_assert_whatever", "true");
  MPI_Request request;
  MPI_Barrier_init(comm, info, &request);
  MPI_Info_free(&info);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  wrong_arguments();
  cannot_be_freed_or_cancelled_under_way();
  persistent_ones_live_until_freed();
  persistent_ones_in_any_order();
  status_and_looking();
  handles_may_be_freed();
  many_at_once();
  too_long_is_an_error_at_the_end();
  info_is_taken();
  MPI_Comm_free(&comm);
  return expect::finish();
}
