// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Large messages that the receiver reads from the sender's memory: whole, truncated, many at once, cancelled, of a
// communicator that is freed, and received by a request that was. With the argument "failing" reads fail now and then,
// and with "read" none may.
#include <algorithm>
#include <string>
#include <vector>

#include "tools.hpp"

namespace {

std::string wanted;

char byte_of(size_t salt, size_t i) {
  return static_cast<char>(salt * 37 + i * 7 + i / 509);
}
std::vector<char> data_of(size_t salt, size_t bytes) {
  std::vector<char> data(bytes);
  for (size_t i = 0; i < bytes; ++i) data[i] = byte_of(salt, i);
  return data;
}
void expect_data(const std::vector<char>& data, size_t salt, size_t bytes) {
  size_t i = 0;
  while (i < bytes && data[i] == byte_of(salt, i)) ++i;
  EXPECT(i == bytes, "message %zu differs from byte %zu of %zu on", salt, i, bytes);
}

const std::vector<size_t> sizes = {8193, 20000, 65536, 65537, 131072, 200000, (1 << 20) + 1, (9 << 20) + 77};

void whole() {
  for (size_t salt = 0; salt < sizes.size(); ++salt) {
    const auto bytes = static_cast<int>(sizes[salt]);
    if (expect::rank == 0) {
      const std::vector<char> data = data_of(salt, sizes[salt]);
      MPI_Send(data.data(), bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    } else {
      std::vector<char> data(sizes[salt] + 1, 'x');
      MPI_Recv(data.data(), bytes + 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      expect_data(data, salt, sizes[salt]);
      EXPECT(data.back() == 'x', "written behind the end");
    }
  }
}

void truncated() {
  constexpr size_t room = 150000;
  if (expect::rank == 0) {
    const std::vector<char> data = data_of(3, 2 * room);
    MPI_Send(data.data(), 2 * room, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
  } else {
    std::vector<char> data(2 * room, 'x');
    EXPECT_CLASS(MPI_Recv(data.data(), room, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    expect_data(data, 3, room);
    EXPECT(data[room] == 'x' && data.back() == 'x', "written behind the end");
  }
}

// Both ranks send to each other; messages are received in another order than sent, half of them before they come.
void many() {
  constexpr int count = 40;
  constexpr size_t bytes = 150000;
  std::vector<std::vector<char>> out, in(count, std::vector<char>(bytes));
  std::vector<MPI_Request> requests;
  auto receive = [&](int i) {
    requests.emplace_back();
    MPI_Irecv(in[static_cast<size_t>(i)].data(), bytes, MPI_BYTE, 1 - expect::rank, i, MPI_COMM_WORLD,
              &requests.back());
  };
  for (int i = count - 1; i > count / 2; --i) receive(i);
  for (int i = 0; i < count; ++i) {
    out.push_back(data_of(static_cast<size_t>(i), bytes));
    requests.emplace_back();
    MPI_Isend(out.back().data(), bytes, MPI_BYTE, 1 - expect::rank, i, MPI_COMM_WORLD, &requests.back());
  }
  for (int i = count / 2; i >= 0; --i) receive(i);
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  for (size_t i = 0; i < count; ++i) expect_data(in[i], i, bytes);
}

// A type with gaps at one end or the other.
void with_gaps() {
  constexpr int blocks = 40000;
  MPI_Datatype gaps;
  MPI_Type_vector(blocks, 4, 8, MPI_BYTE, &gaps);
  MPI_Type_commit(&gaps);
  for (bool at_sender : {false, true}) {
    if (expect::rank == 0) {
      std::vector<char> data = data_of(5, size_t{blocks} * (at_sender ? 8 : 4));
      MPI_Send(data.data(), at_sender ? 1 : blocks * 4, at_sender ? gaps : MPI_BYTE, 1, 3, MPI_COMM_WORLD);
    } else {
      std::vector<char> data(size_t{blocks} * 8, 'x');
      MPI_Recv(data.data(), at_sender ? blocks * 4 : 1, at_sender ? MPI_BYTE : gaps, 0, 3, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
      bool good = true;
      for (size_t i = 0; i < size_t{blocks} * 4; ++i) {
        const size_t spread = i / 4 * 8 + i % 4;
        good = good && data[at_sender ? i : spread] == byte_of(5, at_sender ? spread : i);
      }
      EXPECT(good, "with gaps at the %s", at_sender ? "sender" : "receiver");
    }
  }
  MPI_Type_free(&gaps);
}

// Memory registered for a receiver that never read it does not reach the next message.
void cancelled() {
  constexpr size_t bytes = 300000;
  if (expect::rank == 0) {
    std::vector<char> data = data_of(6, bytes);
    for (int i = 0; i < 5; ++i) {
      MPI_Request request;
      MPI_Status status;
      int flag = 0;
      MPI_Isend(data.data(), bytes, MPI_BYTE, 1, 77, MPI_COMM_WORLD, &request);
      MPI_Cancel(&request);
      MPI_Wait(&request, &status);
      MPI_Test_cancelled(&status, &flag);
      EXPECT(flag == 1, "it was received");
    }
    const std::vector<char> other = data_of(8, bytes);
    MPI_Send(other.data(), bytes, MPI_BYTE, 1, 4, MPI_COMM_WORLD);
  } else {
    std::vector<char> data(bytes);
    MPI_Recv(data.data(), bytes, MPI_BYTE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_data(data, 8, bytes);
  }
}

void persistent() {
  constexpr size_t bytes = 400000;
  std::vector<char> data(bytes);
  MPI_Request request;
  if (expect::rank == 0) {
    MPI_Ssend_init(data.data(), bytes, MPI_BYTE, 1, 5, MPI_COMM_WORLD, &request);
  } else {
    MPI_Recv_init(data.data(), bytes, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &request);
  }
  for (size_t i = 0; i < 5; ++i) {
    const std::vector<char> now = data_of(i, bytes);
    if (expect::rank == 0) std::copy(now.begin(), now.end(), data.begin());
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_data(data, i, bytes);
  }
  MPI_Request_free(&request);
}

// The communicator goes while the data is on its way, and the last receive of all is waited for by MPI_Finalize.
std::vector<char> left;
void freed() {
  constexpr size_t bytes = 5 << 20;
  left = data_of(7, bytes);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<char> data = expect::rank == 0 ? left : std::vector<char>(bytes);
  MPI_Request requests[2];
  for (int i = 0; i < 2; ++i) {
    std::vector<char>& of = i == 0 ? data : left;
    if (expect::rank == 0) {
      MPI_Isend(of.data(), bytes, MPI_BYTE, 1, i, comm, &requests[i]);
    } else {
      MPI_Irecv(of.data(), bytes, MPI_BYTE, 0, i, comm, &requests[i]);
    }
  }
  MPI_Comm_free(&comm);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  expect_data(data, 7, bytes);
  MPI_Request_free(&requests[1]);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  wanted = argc > 1 ? argv[1] : "";
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  tools::open();
  {
    tools::Watch watch({"weft_failed_reads", "weft_r0_messages", "weft_r1_messages"});
    whole();
    truncated();
    many();
    cancelled();
    persistent();
    MPI_Barrier(MPI_COMM_WORLD);  // all sends are complete and counted
    const auto failed = watch.read("weft_failed_reads");
    const auto by_r0 = watch.read("weft_r0_messages");
    const auto by_r1 = watch.read("weft_r1_messages");
    if (wanted == "failing") {
      EXPECT(failed > 0 || expect::rank == 0, "no read failed");
      EXPECT(by_r1 > 0 || expect::rank == 1, "and none came by R1");
    } else {
      EXPECT(failed == 0, "%llu reads failed", failed);
    }
    if (wanted == "read") EXPECT(by_r0 > 30 && by_r1 == 0, "%llu by R0, %llu by R1", by_r0, by_r1);
  }
  with_gaps();
  freed();
  EXPECT_OK(MPI_T_finalize());
  return expect::finish();
}
