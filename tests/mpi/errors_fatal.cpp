// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Errors that end the program: the test's row matches their messages.
#include <cstring>

#include "expect.hpp"

namespace {

bool asked(const char* wanted, char** argv) {
  return strcmp(argv[1], wanted) == 0;
}

void use_freed() {
  MPI_Comm dup, copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  copy = dup;
  MPI_Comm_free(&dup);
  int size;
  MPI_Comm_size(copy, &size);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  int rank = 0;
  if (asked("early", argv)) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  expect::start(&argc, &argv);
  if (expect::rank == 0) {
    if (asked("send", argv)) MPI_Comm_set_name(MPI_COMM_WORLD, nullptr);
    if (asked("freed", argv)) use_freed();
    if (asked("abort", argv)) MPI_Abort(MPI_COMM_WORLD, 7);
  }
  MPI_Barrier(MPI_COMM_WORLD);  // ends with the job
  MPI_Finalize();
  if (asked("late", argv)) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  puts("nothing ended the program");
  return EXIT_FAILURE;
}
