// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// program before|after LIBRARY: loads the library before MPI_Init or after it.
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int load(const char* library) {
  if (dlopen(library, RTLD_NOW | RTLD_LOCAL)) return 1;
  printf("%s\n", dlerror());
  return 0;
}

int main(int argc, char** argv) {
  int loaded = argc == 3 && strcmp(argv[1], "before") == 0 && load(argv[2]);
  MPI_Init(&argc, &argv);
  printf("has started\n");
  fflush(stdout);
  if (!loaded && argc == 3) loaded = load(argv[2]);
  MPI_Finalize();
  return !loaded;
}
