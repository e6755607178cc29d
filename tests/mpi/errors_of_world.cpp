// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// WEFT_ERRORS_OF_WORLD=on: a program that sets MPI_COMM_WORLD's handler alone gets the errors of calls without a
// communicator there; once it sets MPI_COMM_SELF's, that one gets them, as the standard says. `fatal`: the setting is
// off, and the message names it.
#include <cstring>

#include "expect.hpp"

namespace {

MPI_Comm seen = MPI_COMM_NULL;
int calls = 0;

void remember(MPI_Comm* comm, int*, ...) {
  seen = *comm;
  ++calls;
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  int size = 0;
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(remember, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  EXPECT_CLASS(MPI_Group_size(MPI_GROUP_NULL, &size), MPI_ERR_GROUP);
  EXPECT(calls == 1 && seen == MPI_COMM_WORLD, "%d calls", calls);
  EXPECT_CLASS(MPI_Comm_size(MPI_COMM_NULL, &size), MPI_ERR_COMM);
  EXPECT(calls == 2 && seen == MPI_COMM_WORLD, "%d calls", calls);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  EXPECT_CLASS(MPI_Group_size(MPI_GROUP_NULL, &size), MPI_ERR_GROUP);
  EXPECT(calls == 2, "%d calls", calls);
  MPI_Errhandler_free(&handler);
  return expect::finish();
}
