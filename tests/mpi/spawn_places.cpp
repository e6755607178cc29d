// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The place of a spawned process is not given again while another of its world runs, which may still read what the one
// that has left wrote. It is run with places for two spawned processes.
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

int child(MPI_Comm parents, const char* file) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int pid = static_cast<int>(getpid());
  if (file[0] != '\0') MPI_Send(&pid, 1, MPI_INT, 0, 0, parents);
  MPI_Comm_disconnect(&parents);
  MPI_Finalize();
  while (rank == 1 && access(file, F_OK) == 0) usleep(1000);
  return EXIT_SUCCESS;
}

void wait_for_end(int pid) {
  while (kill(pid, 0) == 0 || errno != ESRCH) usleep(1000);
}

// The error class of a spawn of so many, which are left.
int spawn(const char* program, const char* file, int number, int* pids) {
  char* arguments[] = {const_cast<char*>(file), nullptr};
  MPI_Comm inter = MPI_COMM_NULL;
  const int error =
      MPI_Comm_spawn(program, arguments, number, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
  int kind = MPI_SUCCESS;
  MPI_Error_class(error, &kind);
  if (kind != MPI_SUCCESS) return kind;
  for (int i = 0; pids != nullptr && i < number; ++i) MPI_Recv(&pids[i], 1, MPI_INT, i, 0, inter, MPI_STATUS_IGNORE);
  MPI_Comm_disconnect(&inter);
  return MPI_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parents = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parents);
  if (parents != MPI_COMM_NULL) return child(parents, argc > 1 ? argv[1] : "");
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  char file[] = "/tmp/spawn-places-XXXXXX";
  const int made = mkstemp(file);
  if (made < 0) return EXIT_FAILURE;
  close(made);
  int pids[2] = {0, 0};
  const int first = spawn(argv[0], file, 2, pids);
  if (first == MPI_SUCCESS) wait_for_end(pids[0]);
  const int meanwhile = spawn(argv[0], "", 1, nullptr);
  unlink(file);
  if (first == MPI_SUCCESS) wait_for_end(pids[1]);
  const int afterwards = spawn(argv[0], "", 1, nullptr);
  if (first != MPI_SUCCESS || meanwhile != MPI_ERR_SPAWN || afterwards != MPI_SUCCESS) {
    printf("FAILED: error classes %d, %d and %d instead of 0, %d and 0\n", first, meanwhile, afterwards, MPI_ERR_SPAWN);
    return EXIT_FAILURE;
  }
  MPI_Finalize();
  printf("ok\n");
  return EXIT_SUCCESS;
}
