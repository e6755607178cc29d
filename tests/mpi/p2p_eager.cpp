// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Messages of the sizes that may go without asking: to receives posted before and after, found by a probe while their
// data still come, too large for the receive, with gaps at one end, many both ways, cancelled. Between hosts, over TCP,
// they must have gone so.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "by_host.hpp"
#include "tools.hpp"

namespace {

constexpr size_t sizes[] = {8153, 16384, 32767, 32768, 32769, 50001, 65536, 100003, 131071, 131072};

char byte_of(size_t salt, size_t i) {
  return static_cast<char>(salt * 41 + i * 11 + i / 307);
}
std::vector<char> data_of(size_t salt, size_t bytes) {
  std::vector<char> data(bytes);
  for (size_t i = 0; i < bytes; ++i) data[i] = byte_of(salt, i);
  return data;
}
void expect_data(const char* data, size_t salt, size_t bytes) {
  size_t i = 0;
  while (i < bytes && data[i] == byte_of(salt, i)) ++i;
  EXPECT(i == bytes, "message %zu differs from byte %zu of %zu on", salt, i, bytes);
}

// Each size is sent once to a posted receive, and once to be found by a probe: the probe's answer is true before all
// data have come.
void found_by_probe() {
  size_t salt = 0;
  for (const size_t bytes : sizes) {
    for (int turn = 0; turn < 4; ++turn, ++salt) {
      MPI_Status status;
      int count = 0;
      if (expect::rank == 0) {
        std::vector<char> data = data_of(salt, bytes);
        if (turn == 0) MPI_Recv(nullptr, 0, MPI_BYTE, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(data.data(), static_cast<int>(bytes), MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        std::fill(data.begin(), data.end(), 'x');  // it is ours again
        continue;
      }
      std::vector<char> data(bytes + 1, 'x');
      if (turn == 0) {
        MPI_Request request;
        MPI_Irecv(data.data(), static_cast<int>(bytes + 1), MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
        MPI_Send(nullptr, 0, MPI_BYTE, 0, 9, MPI_COMM_WORLD);
        MPI_Wait(&request, &status);
      } else if (turn == 1) {
        MPI_Message message;
        MPI_Mprobe(0, 1, MPI_COMM_WORLD, &message, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        EXPECT(static_cast<size_t>(count) == bytes, "%d bytes of %zu", count, bytes);
        MPI_Mrecv(data.data(), static_cast<int>(bytes + 1), MPI_BYTE, &message, &status);
      } else {
        MPI_Probe(turn == 2 ? MPI_ANY_SOURCE : 0, turn == 2 ? MPI_ANY_TAG : 1, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        EXPECT(static_cast<size_t>(count) == bytes, "%d bytes of %zu", count, bytes);
        MPI_Recv(data.data(), static_cast<int>(bytes + 1), MPI_BYTE, 0, 1, MPI_COMM_WORLD, &status);
      }
      MPI_Get_count(&status, MPI_BYTE, &count);
      EXPECT(static_cast<size_t>(count) == bytes && status.MPI_SOURCE == 0 && status.MPI_TAG == 1, "the status of %zu",
             bytes);
      expect_data(data.data(), salt, bytes);
      EXPECT(data.back() == 'x', "written behind the end");
    }
  }
}

// Both kinds of receives are too small; the next message comes as it was sent.
void truncated() {
  for (const bool probed : {false, true}) {
    for (const size_t bytes : sizes) {
      const size_t room = bytes / 3;
      if (expect::rank == 0) {
        const std::vector<char> data = data_of(3, bytes);
        if (!probed) MPI_Recv(nullptr, 0, MPI_BYTE, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int tag : {2, 3}) MPI_Send(data.data(), static_cast<int>(bytes), MPI_BYTE, 1, tag, MPI_COMM_WORLD);
        continue;
      }
      std::vector<char> data(bytes, 'x');
      MPI_Request request;
      if (probed) MPI_Probe(0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Irecv(data.data(), static_cast<int>(room), MPI_BYTE, 0, 2, MPI_COMM_WORLD, &request);
      if (!probed) MPI_Send(nullptr, 0, MPI_BYTE, 0, 9, MPI_COMM_WORLD);
      EXPECT_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
      expect_data(data.data(), 3, room);
      EXPECT(data[room] == 'x' && data.back() == 'x', "written behind the end");
      MPI_Recv(data.data(), static_cast<int>(bytes), MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      expect_data(data.data(), 3, bytes);
    }
  }
}

// Received in another order than sent, half of them before they come, and every third into gaps.
void many() {
  constexpr int count = 120;
  MPI_Datatype block, gaps;
  MPI_Type_vector(1000, 5, 7, MPI_BYTE, &block);
  MPI_Type_create_resized(block, 0, 7000, &gaps);
  MPI_Type_free(&block);
  MPI_Type_commit(&gaps);
  std::vector<std::vector<char>> out, in(count);
  std::vector<MPI_Request> requests;
  const auto blocks_of = [](int i) { return i % 26 + 1; };
  const auto receive = [&](int i) {
    std::vector<char>& data = in[static_cast<size_t>(i)];
    data.assign(static_cast<size_t>(blocks_of(i)) * (i % 3 == 0 ? 7000 : 5000), 'x');
    requests.emplace_back();
    MPI_Irecv(data.data(), blocks_of(i) * (i % 3 == 0 ? 1 : 5000), i % 3 == 0 ? gaps : MPI_BYTE, 1 - expect::rank, i,
              MPI_COMM_WORLD, &requests.back());
  };
  for (int i = count - 1; i > count / 2; --i) receive(i);
  for (int i = 0; i < count; ++i) {
    out.push_back(data_of(static_cast<size_t>(i), static_cast<size_t>(blocks_of(i)) * 5000));
    requests.emplace_back();
    MPI_Isend(out.back().data(), blocks_of(i) * 5000, MPI_BYTE, 1 - expect::rank, i, MPI_COMM_WORLD, &requests.back());
  }
  for (int i = count / 2; i >= 0; --i) receive(i);
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; ++i) {
    std::vector<char>& data = in[static_cast<size_t>(i)];
    const size_t bytes = static_cast<size_t>(blocks_of(i)) * 5000;
    if (i % 3 == 0) {
      for (size_t at = 0; at < bytes; ++at) data[at] = data[at / 5 * 7 + at % 5];
    }
    expect_data(data.data(), static_cast<size_t>(i), bytes);
  }
  MPI_Type_free(&gaps);
}

// A send that nobody receives either is cancelled, or is received later.
void cancelled() {
  constexpr size_t bytes = 131072;
  constexpr int count = 40;
  std::vector<char> data = data_of(6, bytes);
  std::vector<int> sent(count);
  if (expect::rank == 0) {
    std::vector<MPI_Request> requests(count);
    for (int i = 0; i < count; ++i) {
      MPI_Isend(data.data(), bytes, MPI_BYTE, 1, 100 + i, MPI_COMM_WORLD, &requests[static_cast<size_t>(i)]);
    }
    for (int i = 0; i < count; ++i) {
      MPI_Status status;
      int flag = 0;
      if (i % 2 == 1) MPI_Cancel(&requests[static_cast<size_t>(i)]);
      if (i % 2 == 0) continue;
      MPI_Wait(&requests[static_cast<size_t>(i)], &status);
      MPI_Test_cancelled(&status, &flag);
      sent[static_cast<size_t>(i)] = flag == 0 ? 1 : 0;
    }
    for (int i = 0; i < count; i += 2) sent[static_cast<size_t>(i)] = 1;
    MPI_Send(sent.data(), count, MPI_INT, 1, 5, MPI_COMM_WORLD);
    MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
  } else {
    MPI_Recv(sent.data(), count, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; ++i) {
      if (sent[static_cast<size_t>(i)] == 0) continue;
      std::fill(data.begin(), data.end(), 'x');
      MPI_Recv(data.data(), bytes, MPI_BYTE, 0, 100 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      expect_data(data.data(), 6, bytes);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  const std::vector<std::string> hosts = by_host::hosts();
  const char* library = std::getenv("WEFT_NETWORK_LIBRARY");
  const bool pushed = hosts[0] != hosts[1] && (library == nullptr || std::string(library) == "tcp") &&
                      std::getenv("WEFT_EAGER_LIMIT") == nullptr;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  tools::open();
  {
    tools::Watch watch({"weft_e1_messages", "weft_r0_messages", "weft_r1_messages"});
    found_by_probe();
    truncated();
    many();
    MPI_Barrier(MPI_COMM_WORLD);  // all sends are complete and counted
    if (pushed) {
      const auto by_e1 = watch.read("weft_e1_messages");
      const auto others = watch.read("weft_r0_messages") + watch.read("weft_r1_messages");
      EXPECT(by_e1 > 100 && others == 0, "%llu by E1, %llu not", by_e1, others);
    }
  }
  cancelled();
  EXPECT_OK(MPI_T_finalize());
  return expect::finish();
}
