// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// For kill.py: several threads of every rank flood all ranks with small messages and now and then a large one, without
// end; another one receives. A rank that is stopped or killed here may have reserved cells in a receiver's ring and not
// yet filled them.
#include <vector>

#include "threads.hpp"

int main(int argc, char** argv) {
  threads::start(&argc, &argv);
  constexpr int senders = 4, large = 200 << 10;
  printf("pid %d\n", static_cast<int>(getpid()));
  fflush(stdout);
  std::vector<std::thread> running;
  for (int t = 0; t < senders; ++t) {
    running.emplace_back([t] {
      threads::Random random(static_cast<uint64_t>(getpid() * 8 + t));
      const std::vector<char> data(large);
      for (;;) {
        const int bytes = random.one_in(500) ? large : random.below(200), to = random.below(expect::size);
        MPI_Send(data.data(), bytes, MPI_BYTE, to, random.below(64), MPI_COMM_WORLD);
      }
    });
  }
  std::vector<char> data(large);
  for (;;) MPI_Recv(data.data(), large, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
