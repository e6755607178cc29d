// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Receives are posted while the progress thread wakes and takes messages: between messages a rank computes for so long
// that its progress thread takes some of them, and its next receives find that thread at work. Each message comes once,
// into the receive whose turn it is.
//
// usage: progress_posts [rounds]
#include <chrono>
#include <cstdlib>
#include <vector>

#include "expect.hpp"

namespace {

constexpr int most = 12;  // messages of a round

// The same numbers in all ranks.
class Numbers {
 public:
  uint32_t below(uint32_t bound) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<uint32_t>(state_ >> 33) % bound;
  }

 private:
  uint64_t state_ = 19;
};

void compute(uint32_t us) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(us);
  while (std::chrono::steady_clock::now() < until) {
  }
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 4000;
  const int to = (expect::rank + 1) % expect::size;
  const int from = (expect::rank + expect::size - 1) % expect::size;
  Numbers numbers;
  std::vector<int> in(most), out(most);
  std::vector<MPI_Request> requests(2 * most);
  int number = 0;
  for (int round = 0; round < rounds && expect::failures == 0; ++round) {
    const auto count = static_cast<int>(1 + numbers.below(most));
    const uint32_t pause_us = numbers.below(40);
    const bool blocking = numbers.below(4) == 0;
    for (int i = 0; i < count; ++i) {
      // The receive of one message is posted around the arrival of the one before it.
      if (!blocking) MPI_Irecv(&in[i], 1, MPI_INT, from, i % 3, MPI_COMM_WORLD, &requests[i]);
      out[i] = number + i;
      MPI_Isend(&out[i], 1, MPI_INT, to, i % 3, MPI_COMM_WORLD, &requests[most + i]);
      if (i == count / 2) compute(pause_us);
    }
    for (int i = 0; i < count; ++i) {
      if (blocking) MPI_Recv(&in[i], 1, MPI_INT, from, i % 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (!blocking) MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
    MPI_Waitall(count, requests.data() + most, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; ++i)
      EXPECT(in[i] == number + i, "round %d: message %d is %d, not %d", round, i, in[i], number + i);
    number += count;
  }
  return expect::finish();
}
