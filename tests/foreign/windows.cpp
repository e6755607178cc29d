// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Windows through another ABI: synchronisation with its constants, attributes with its values.
#include <mpi.h>

#include <vector>

#include "same.hpp"

namespace {

using expect::rank;
using expect::size;

int* attribute(MPI_Win win, int keyval) {
  int* value = nullptr;
  int flag = 0;
  MPI_Win_get_attr(win, keyval, &value, &flag);
  return flag != 0 ? value : nullptr;
}

void attributes() {
  int* memory = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  HOLDS(attribute(win, MPI_WIN_BASE) == memory);
  SAME(*reinterpret_cast<MPI_Aint*>(attribute(win, MPI_WIN_SIZE)), 4 * sizeof(int));
  SAME(*attribute(win, MPI_WIN_DISP_UNIT), sizeof(int));
  SAME(*attribute(win, MPI_WIN_CREATE_FLAVOR), MPI_WIN_FLAVOR_ALLOCATE);
  SAME(*attribute(win, MPI_WIN_MODEL), MPI_WIN_UNIFIED);
  MPI_Win_free(&win);
  SAME(win, MPI_WIN_NULL);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  SAME(*attribute(win, MPI_WIN_CREATE_FLAVOR), MPI_WIN_FLAVOR_DYNAMIC);
  MPI_Win_free(&win);
}

void synchronisation() {
  std::vector<int> memory(size + 2, -1);
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create(memory.data(), memory.size() * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  const int right = (rank + 1) % size;
  MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
  MPI_Put(&rank, 1, MPI_INT, right, rank, 1, MPI_INT, win);
  MPI_Put(&rank, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
  MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  const int left = (rank + size - 1) % size;
  SAME(memory[left], left);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, MPI_MODE_NOCHECK & 0, win);
  const int one = 1;
  MPI_Accumulate(&one, 1, MPI_INT, 0, size, 1, MPI_INT, MPI_SUM, win);
  MPI_Win_unlock(0, win);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  int before = 0;
  MPI_Fetch_and_op(&one, &before, MPI_INT, 0, size + 1, MPI_SUM, win);
  MPI_Win_unlock(0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    HOLDS(memory[size] == size - 1 && memory[size + 1] == size - 1);
    MPI_Win_unlock(0, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  int got = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Rget(&got, 1, MPI_INT, right, rank, 1, MPI_INT, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  SAME(got, rank);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

int errors_seen = 0;
MPI_Win error_win;
int error_code;

void note_error(MPI_Win* win, int* code, ...) {
  ++errors_seen;
  error_win = *win;
  error_code = *code;
}

void errors() {
  int memory = 0;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Win_create_errhandler(note_error, &handler);
  MPI_Win_set_errhandler(win, handler);
  MPI_Errhandler_free(&handler);
  EXPECT_CLASS(MPI_Win_lock(77, 0, 0, win), MPI_ERR_LOCKTYPE);
  SAME(errors_seen, 1);
  SAME(error_win, win);
  SAME(error_code & 0x7f, MPI_ERR_LOCKTYPE);
  EXPECT_CLASS(MPI_Win_lock(301, 0, 0, win), MPI_ERR_LOCKTYPE);  // exclusive in the standard's ABI
  EXPECT_CLASS(MPI_Put(&memory, 1, MPI_INT, size, 0, 1, MPI_INT, win), MPI_ERR_RANK);
  EXPECT_CLASS(MPI_Put(&memory, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
  MPI_Win_free(&win);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  attributes();
  synchronisation();
  errors();
  return expect::finish();
}
