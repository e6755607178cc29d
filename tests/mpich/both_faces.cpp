// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Both ABIs in one process: a program of one loads a library of the other, which finds its own functions because it is
// loaded with RTLD_DEEPBIND. Compiled twice, once for each ABI.
#include <dlfcn.h>
#include <mpi.h>

#include "same.hpp"

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  void* library = argc < 2 ? nullptr : dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  EXPECT(library != nullptr, "%s", dlerror());
  if (library != nullptr) {
    auto* checks = reinterpret_cast<int (*)()>(dlsym(library, "other_face_checks"));
    for (int i = 0; i < 3; ++i) SAME(checks(), 0);
  }
  // The program's own side goes on as before.
  int sum = -1;
  MPI_Allreduce(&expect::rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  SAME(sum, expect::size * (expect::size - 1) / 2);
  return expect::finish();
}
