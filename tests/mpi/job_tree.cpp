// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// For job_tree.py: rank 0 spawns two processes, whose first spawns one more, and rank 1 two that it disconnects from.
// All stay until a file is there.
//   mpi_job_tree FILE
#include <mpi.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

char self[PATH_MAX] = "";

MPI_Comm spawn(const char* file, const char* role, int number) {
  char* arguments[] = {const_cast<char*>(file), const_cast<char*>(role), nullptr};
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Comm_spawn(self, arguments, number, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
  return inter;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* const file = argv[1];
  const char* const role = argc > 2 ? argv[2] : "first";
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return EXIT_FAILURE;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm parents = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parents);
  if (strcmp(role, "leaves") == 0) MPI_Comm_disconnect(&parents);
  if (strcmp(role, "spawns") == 0 && rank == 0) spawn(file, "stays", 1);
  // The parents go on when the children have spawned.
  if (strcmp(role, "spawns") == 0) MPI_Barrier(parents);
  MPI_Comm children = MPI_COMM_NULL;
  if (strcmp(role, "first") == 0) {
    MPI_Comm inter = MPI_COMM_NULL;
    if (rank == 0) {
      children = spawn(file, "spawns", 2);
      MPI_Barrier(children);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
      inter = spawn(file, "leaves", 2);
      MPI_Comm_disconnect(&inter);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      printf("ready\n");
      fflush(stdout);
    }
  }
  while (access(file, F_OK) != 0) usleep(1000);
  if (children != MPI_COMM_NULL) MPI_Comm_disconnect(&children);
  if (strcmp(role, "spawns") == 0) MPI_Comm_disconnect(&parents);
  MPI_Finalize();
  return EXIT_SUCCESS;
}
