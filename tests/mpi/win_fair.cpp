// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Readers that come again and again, each while another holds the lock, do not keep a writer out: it sets the flag that
// they look for long before they have looked as often as they would.
#include "expect.hpp"

int main(int argc, char** argv) {
  constexpr long most = 200000;
  expect::start(&argc, &argv);
  MPI_Win win;
  long* flag = nullptr;
  MPI_Win_allocate(sizeof *flag, sizeof *flag, MPI_INFO_NULL, MPI_COMM_WORLD, &flag, &win);
  *flag = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (expect::rank == 1) {
    const long one = 1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Put(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
    MPI_Win_unlock(0, win);
  } else if (expect::rank > 1) {
    long seen = 0;
    long looks = 0;
    for (; seen == 0 && looks < most; ++looks) {
      MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
      MPI_Get(&seen, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
      MPI_Win_flush(0, win);
      for (int i = 0; i < 3000; ++i) asm volatile("");  // it looks at what it has read
      MPI_Win_unlock(0, win);
    }
    EXPECT(seen == 1, "no word from the writer in %ld looks", looks);
  }
  MPI_Win_free(&win);
  return expect::finish();
}
