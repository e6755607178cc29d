// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Buffered sends: they return without a receiver, keep their order, take exactly the memory the standard says, and are
// delivered before a flush or detach returns.
#include <algorithm>
#include <cstring>
#include <vector>

#include "expect.hpp"

using expect::rank;
using expect::size;

namespace {

constexpr int overhead = MPI_BSEND_OVERHEAD;

int value(int message, int i) {
  return message * 1001 + i * 3 + 1;
}

std::vector<int> data(int message, int ints) {
  std::vector<int> v(static_cast<size_t>(ints));
  for (int i = 0; i < ints; ++i) v[static_cast<size_t>(i)] = value(message, i);
  return v;
}

void receive(int source, int tag, int message, int ints, MPI_Comm comm) {
  std::vector<int> v(static_cast<size_t>(ints) + 1);
  MPI_Status status;
  MPI_Recv(v.data(), ints + 1, MPI_INT, source, tag, comm, &status);
  int count = 0;
  MPI_Get_count(&status, MPI_INT, &count);
  v.resize(static_cast<size_t>(ints));
  EXPECT(count == ints && v == data(message, ints), "message %d: %d ints of %d", message, count, ints);
}

// Everybody sends to the right before anybody receives: large messages too, mixed with standard sends that wait.
void ring_without_receivers(void* memory, int memory_bytes) {
  const int lengths[] = {0, 1, 100, 5000, 100000};
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Buffer_attach(memory, memory_bytes);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 5; ++i) {
      std::vector<int> v = data(i, lengths[i]);
      MPI_Bsend(v.data(), lengths[i], MPI_INT, to, 7, MPI_COMM_WORLD);
      std::fill(v.begin(), v.end(), -1);
    }
    for (int i = 0; i < 5; ++i) receive(from, 7, i, lengths[i], MPI_COMM_WORLD);
    MPI_Buffer_flush();  // the buffer is large enough for one round
  }
  void* address = nullptr;
  int bytes = 0;
  MPI_Buffer_detach(&address, &bytes);
  EXPECT(address == memory && bytes == memory_bytes, "detach gives %p and %d", address, bytes);
}

// The order of one tag holds between buffered and standard sends.
void order_with_standard_sends() {
  MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  std::vector<int> v[4];
  MPI_Request requests[4];
  for (int i = 0; i < 4; ++i) {
    v[i] = data(i, 40000);
    if (i % 2 == 0) {
      MPI_Ibsend(v[i].data(), 40000, MPI_INT, to, 2, MPI_COMM_WORLD, &requests[i]);
    } else {
      MPI_Isend(v[i].data(), 40000, MPI_INT, to, 2, MPI_COMM_WORLD, &requests[i]);
    }
  }
  for (int i = 0; i < 4; ++i) receive(from, 2, i, 40000, MPI_COMM_WORLD);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  void* address = nullptr;
  int bytes = 0;
  MPI_Buffer_detach(&address, &bytes);
  EXPECT(address == MPI_BUFFER_AUTOMATIC, "detach gives %p", address);
}

// A message that does not fit is an error, one that exactly fits is not. Nobody receives until the end, and the
// messages are too long to leave without a receiver.
void exact_room() {
  constexpr int ints = 50000, bytes = ints * 4;
  std::vector<char> memory(2 * (bytes + overhead));
  std::vector<int> v = data(0, ints), w = data(1, ints);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  EXPECT_CLASS(MPI_Bsend(v.data(), 1, MPI_INT, to, 3, MPI_COMM_WORLD), MPI_ERR_BUFFER);
  MPI_Buffer_attach(memory.data(), bytes + overhead - 1);
  EXPECT_CLASS(MPI_Bsend(v.data(), ints, MPI_INT, to, 3, MPI_COMM_WORLD), MPI_ERR_BUFFER);
  EXPECT_CLASS(MPI_Buffer_attach(memory.data(), 100), MPI_ERR_BUFFER);
  void* address;
  int attached;
  MPI_Buffer_detach(&address, &attached);
  MPI_Buffer_attach(memory.data(), static_cast<int>(memory.size()));
  EXPECT_CLASS(MPI_Bsend(v.data(), ints, MPI_INT, to, 3, MPI_COMM_WORLD), MPI_SUCCESS);
  EXPECT_CLASS(MPI_Bsend(w.data(), ints, MPI_INT, to, 3, MPI_COMM_WORLD), MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_CLASS(MPI_Bsend(w.data(), ints, MPI_INT, to, 3, MPI_COMM_WORLD), MPI_ERR_BUFFER);
  MPI_Barrier(MPI_COMM_WORLD);
  receive(from, 3, 0, ints, MPI_COMM_WORLD);
  receive(from, 3, 1, ints, MPI_COMM_WORLD);
  MPI_Buffer_detach(&address, &attached);
  EXPECT_CLASS(MPI_Bsend(v.data(), 1, MPI_INT, to, 3, MPI_COMM_WORLD), MPI_ERR_BUFFER);
}

// The buffer holds three messages: when the oldest has left, its place at the front is used again, and no more than
// that.
void room_goes_round() {
  constexpr int ints = 50000, unit = ints * 4 + overhead;
  std::vector<char> memory(3 * unit);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Buffer_attach(memory.data(), static_cast<int>(memory.size()));
  auto send = [&](int message) { return MPI_Bsend(data(message, ints).data(), ints, MPI_INT, to, 3, MPI_COMM_WORLD); };
  for (int message : {0, 1}) EXPECT_CLASS(send(message), MPI_SUCCESS);
  receive(from, 3, 0, ints, MPI_COMM_WORLD);
  int none = 0;
  MPI_Sendrecv(&none, 0, MPI_INT, from, 4, &none, 0, MPI_INT, to, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int message : {2, 3}) EXPECT_CLASS(send(message), MPI_SUCCESS);
  EXPECT_CLASS(send(4), MPI_ERR_BUFFER);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int message : {1, 2, 3}) receive(from, 3, message, ints, MPI_COMM_WORLD);
  void* address;
  int bytes;
  MPI_Buffer_detach(&address, &bytes);
}

void flushes() {
  constexpr int ints = 60000;
  std::vector<char> memory(ints * 4 + overhead);
  MPI_Buffer_attach(memory.data(), static_cast<int>(memory.size()));
  MPI_Request request;
  int flag = 0;
  MPI_Buffer_iflush(&request);
  MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  EXPECT(flag && request == MPI_REQUEST_NULL, "an empty buffer is not flushed");
  if (size > 1 && rank < 2) {
    if (rank == 0) {
      std::vector<int> v = data(5, ints);
      MPI_Bsend(v.data(), ints, MPI_INT, 1, 4, MPI_COMM_WORLD);
      MPI_Buffer_iflush(&request);
      MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
      EXPECT(!flag, "flushed without a receiver");
      MPI_Send(nullptr, 0, MPI_INT, 1, 5, MPI_COMM_WORLD);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Bsend(v.data(), ints, MPI_INT, 1, 4, MPI_COMM_WORLD);
      MPI_Buffer_flush();
    } else {
      MPI_Recv(nullptr, 0, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      receive(0, 4, 5, ints, MPI_COMM_WORLD);
      receive(0, 4, 5, ints, MPI_COMM_WORLD);
    }
  }
  void* address;
  MPI_Count bytes;
  MPI_Buffer_detach_c(&address, &bytes);
  EXPECT(address == memory.data() && bytes == static_cast<MPI_Count>(memory.size()), "detach gives %lld bytes",
         static_cast<long long>(bytes));
  MPI_Buffer_detach_c(&address, &bytes);
  EXPECT(address == nullptr && bytes == 0, "detach of nothing gives %p", address);
}

// A communicator's buffer serves it, and only it.
void buffer_of_communicator() {
  char memory[overhead + 400];
  int v[100], to = (rank + 1) % size, from = (rank + size - 1) % size;
  memcpy(v, data(8, 100).data(), sizeof v);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_attach_buffer(comm, memory, sizeof memory);
  EXPECT_CLASS(MPI_Bsend(v, 100, MPI_INT, to, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
  EXPECT_CLASS(MPI_Bsend(v, 100, MPI_INT, to, 0, comm), MPI_SUCCESS);
  receive(from, 0, 8, 100, comm);
  MPI_Request request;
  MPI_Comm_iflush_buffer(comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_flush_buffer(comm);
  void* address;
  int bytes;
  MPI_Comm_detach_buffer(comm, &address, &bytes);
  EXPECT(address == memory && bytes == static_cast<int>(sizeof memory), "detach gives %p, %d", address, bytes);
  MPI_Comm_free(&comm);
}

void derived_type_and_persistent() {
  MPI_Datatype every_second;
  MPI_Type_vector(50, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  char memory[3 * (overhead + 200)];  // none may have been received when we come to the last
  MPI_Buffer_attach(memory, sizeof memory);
  int v[100], to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Request request;
  MPI_Bsend_init(v, 1, every_second, to, 1, MPI_COMM_WORLD, &request);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 100; ++i) v[i] = i % 2 == 0 ? value(round, i / 2) : -1;
    EXPECT_CLASS(MPI_Start(&request), MPI_SUCCESS);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int& i : v) i = -2;
    receive(from, 1, round, 50, MPI_COMM_WORLD);
  }
  MPI_Request_free(&request);
  void* address;
  int bytes;
  MPI_Buffer_detach(&address, &bytes);
  MPI_Type_free(&every_second);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  std::vector<char> memory(105101 * 4 + 5 * overhead + 3);
  ring_without_receivers(memory.data() + 3, static_cast<int>(memory.size()) - 3);
  ring_without_receivers(MPI_BUFFER_AUTOMATIC, 0);
  order_with_standard_sends();
  exact_room();
  room_goes_round();
  flushes();
  buffer_of_communicator();
  derived_type_and_persistent();
  // Left for MPI_Finalize to deliver and detach.
  MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
  if (rank == 0 && size > 1) MPI_Bsend(data(1, 30000).data(), 30000, MPI_INT, size - 1, 9, MPI_COMM_WORLD);
  if (rank == size - 1 && size > 1) receive(0, 9, 1, 30000, MPI_COMM_WORLD);
  return expect::finish();
}
