// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Ranks write and sync, round after round, until they are killed (file_killed.py): file_victim PATH. After each sync
// rank 0 says how many rounds are on the storage device. A round gives each rank's block the number of the round.
#include <mpi.h>

#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_File file;
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  constexpr int numbers = 512;
  std::vector<int> block(numbers);
  for (int round = 1;; ++round) {
    for (int& number : block) number = round;
    const MPI_Offset at = (static_cast<MPI_Offset>(round - 1) * size + rank) * numbers * 4;
    MPI_File_write_at_all(file, at, block.data(), numbers, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    if (rank == 0) printf("%d\n", round), fflush(stdout);
  }
}
