// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Barriers and reductions of few and of many bytes, a hundred each, for rows that say with TEST_EXPECT (counters.h) how
// many messages they take: none in a shared region.
#include <vector>

#include "expect.hpp"

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  for (int round = 0; round < 100; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    for (const int count : {1, 1000}) {
      const std::vector<int> mine(static_cast<size_t>(count), expect::rank + round);
      std::vector<int> all(mine.size());
      MPI_Allreduce(mine.data(), all.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      const int sum = expect::size * (expect::size - 1) / 2 + expect::size * round;
      EXPECT(all.front() == sum && all.back() == sum, "%d and %d instead of %d", all.front(), all.back(), sum);
    }
  }
  return expect::finish();
}
