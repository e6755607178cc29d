// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// For limits.py, under a limit on address space: most of it stays the program's, and shared memory is given as far as
// there is some, or refused through the error handler.
#include <cstdlib>
#include <cstring>

#include "expect.hpp"

int main(int argc, char** argv) {
  const auto plain_mib = static_cast<size_t>(argc > 1 ? atoi(argv[1]) : 0);
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  void* volatile plain = malloc(plain_mib << 20);
  EXPECT(plain != nullptr, "malloc of %zu MiB is refused after MPI_Init", plain_mib);
  free(plain);
  char* memory = nullptr;
  EXPECT(MPI_Alloc_mem(1 << 20, MPI_INFO_NULL, &memory) == MPI_SUCCESS, "no MiB of shared memory");
  std::memset(memory, 1, 1 << 20);
  MPI_Free_mem(memory);
  EXPECT_CLASS(MPI_Alloc_mem(MPI_Aint{1} << 45, MPI_INFO_NULL, &memory), MPI_ERR_NO_MEM);
  MPI_Win win;
  int* base = nullptr;
  MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_fence(0, win);
  MPI_Put(&expect::rank, 1, MPI_INT, (expect::rank + 1) % expect::size, 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  EXPECT(*base == (expect::rank + expect::size - 1) % expect::size, "%d was put", *base);
  MPI_Win_free(&win);
  return expect::finish();
}
