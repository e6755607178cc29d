// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Messages of given sizes, for rows that force a path and say with TEST_EXPECT (counters.h) which one was taken.
//
// usage: paths size... where a size is a number of bytes; behind g: the sender's layout has gaps; s: a synchronous
// send; b: a blocking send from every rank but the last, and a blocking receive; a: from every rank, which is taken
// before its receive is there; l: rank 0 comes late, so that others
// wait; t: by four threads at once, each with tags of its own
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "expect.hpp"

namespace {

constexpr int rounds = 12;

unsigned char byte_of(int salt, size_t i) {
  return static_cast<unsigned char>(static_cast<size_t>(salt) * 31 + i * 7 + i / 251);
}

void expect_bytes(const MPI_Status& status, const std::vector<unsigned char>& in, int salt, size_t bytes) {
  int count = -1;
  MPI_Get_count(&status, MPI_BYTE, &count);
  size_t i = 0;
  while (i < bytes && in[i] == byte_of(salt, i)) ++i;
  EXPECT(count == static_cast<int>(bytes) && i == bytes && in[bytes] == 0xee, "%d of %zu bytes, wrong from %zu on",
         count, bytes, i);
}

// To the next rank and from the one before, in both orders of send and receive.
void exchange(const std::string& kind, size_t bytes, int tag) {
  const int next = (expect::rank + 1) % expect::size, before = (expect::rank + expect::size - 1) % expect::size;
  const bool gaps = kind.find('g') != std::string::npos, synchronous = kind.find('s') != std::string::npos;
  const bool all = kind.find('a') != std::string::npos, blocking = all || kind.find('b') != std::string::npos;
  const bool late = kind.find('l') != std::string::npos && expect::rank == 0;
  const size_t stride = gaps ? 2 : 1;
  std::vector<unsigned char> out(bytes * stride), in(bytes + 1, 0xee);
  MPI_Datatype type = MPI_BYTE;
  if (gaps) {
    MPI_Type_vector(static_cast<int>(bytes), 1, 2, MPI_BYTE, &type);
    MPI_Type_commit(&type);
  }
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < bytes; ++i) out[i * stride] = byte_of(expect::rank + round, i);
    std::fill(in.begin(), in.end(), 0xee);
    if (late) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    MPI_Status statuses[2];
    MPI_Request requests[2];
    const auto receive = [&] {
      MPI_Irecv(in.data(), static_cast<int>(bytes) + 1, MPI_BYTE, before, tag, MPI_COMM_WORLD, &requests[0]);
    };
    if (blocking) {
      if (all || expect::rank != expect::size - 1) {
        MPI_Send(out.data(), static_cast<int>(bytes), MPI_BYTE, next, tag, MPI_COMM_WORLD);
      }
      if (!all && expect::rank == 0) continue;
      MPI_Recv(in.data(), static_cast<int>(bytes) + 1, MPI_BYTE, before, tag, MPI_COMM_WORLD, &statuses[0]);
      expect_bytes(statuses[0], in, before + round, bytes);
      continue;
    }
    if (round % 2 == 0) receive();
    (synchronous ? MPI_Issend : MPI_Isend)(out.data(), gaps ? 1 : static_cast<int>(bytes), type, next, tag,
                                           MPI_COMM_WORLD, &requests[1]);
    if (round % 2 == 1) receive();
    MPI_Waitall(2, requests, statuses);
    expect_bytes(statuses[0], in, before + round, bytes);
  }
  if (gaps) MPI_Type_free(&type);
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &expect::rank);
  MPI_Comm_size(MPI_COMM_WORLD, &expect::size);
  counters_start();
  for (int i = 1; i < argc; ++i) {
    const std::string kind = argv[i];
    const size_t digits = kind.find_first_of("0123456789");
    const size_t bytes = digits == std::string::npos ? 0 : strtoull(kind.c_str() + digits, nullptr, 10);
    std::vector<std::thread> threads;
    if (kind.find('t') != std::string::npos) {
      for (int t = 0; t < 4; ++t) threads.emplace_back([&, t] { exchange(kind, bytes, 10 * i + t); });
    } else {
      exchange(kind, bytes, 10 * i);
    }
    for (std::thread& thread : threads) thread.join();
  }
  return expect::finish();
}
