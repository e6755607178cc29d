// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Spawns, accepts and connects without end, for kill_spawn.py: each rank with children of its own, from which it
// disconnects, to connect again at a port.
#include <mpi.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>

namespace {

void meet(MPI_Comm inter, bool high) {
  MPI_Comm all = MPI_COMM_NULL;
  MPI_Intercomm_merge(inter, high ? 1 : 0, &all);
  int one = 1;
  int sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&inter);
}

int child(MPI_Comm parents, const char* port) {
  meet(parents, true);
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  meet(inter, true);
  MPI_Finalize();
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  char self[PATH_MAX] = "";
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return EXIT_FAILURE;
  MPI_Comm parents = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parents);
  if (parents != MPI_COMM_NULL) return child(parents, argv[1]);
  printf("pid %d\n", static_cast<int>(getpid()));
  fflush(stdout);
  for (;;) {
    char port[MPI_MAX_PORT_NAME] = "";
    char* arguments[] = {port, nullptr};
    MPI_Comm inter = MPI_COMM_NULL;
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Comm_spawn(self, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
    meet(inter, false);
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    meet(inter, false);
    MPI_Close_port(port);
  }
}
