// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// WEFT_ERRORS_OF_WORLD=on: a program that sets MPI_COMM_WORLD's handler alone gets the errors of calls without a
// communicator there; once it sets MPI_COMM_SELF's, that one gets them, as the standard says. So do errors on objects
// on which, and on whose parents, none was set. `fatal`: the setting is off, and the message names it.
#include <cstring>

#include "expect.hpp"

namespace {

MPI_Comm seen = MPI_COMM_NULL;
int calls = 0;

void remember(MPI_Comm* comm, int*, ...) {
  seen = *comm;
  ++calls;
}

// Made before the program sets a handler, or after it.
void never_set(MPI_Comm dup, MPI_Comm of_dup, MPI_Win win) {
  const int before = calls;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  EXPECT_CLASS(MPI_Comm_dup(dup, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Comm_dup(of_dup, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Win_set_attr(win, MPI_KEYVAL_INVALID, nullptr), MPI_ERR_KEYVAL);
  EXPECT(calls == before + 3, "%d calls", calls - before);
  for (MPI_Comm comm : {dup, of_dup}) {
    MPI_Comm_get_errhandler(comm, &handler);
    EXPECT(handler == MPI_ERRORS_ARE_FATAL, "another handler");
  }
  MPI_Win_get_errhandler(win, &handler);
  EXPECT(handler == MPI_ERRORS_ARE_FATAL, "another handler");
}

void were_set(MPI_Comm dup) {
  const int before = calls;
  MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN);
  MPI_Comm copy;
  MPI_Comm_dup(dup, &copy);
  EXPECT_CLASS(MPI_Comm_dup(copy, nullptr), MPI_ERR_ARG);
  EXPECT(calls == before, "%d calls", calls - before);
  MPI_Comm_free(&copy);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  int size = 0;
  MPI_Comm dup, of_dup;
  MPI_Win win;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_dup(dup, &of_dup);
  MPI_Win_create(&size, sizeof size, 1, MPI_INFO_NULL, dup, &win);
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
  never_set(dup, of_dup, win);
  were_set(of_dup);
  MPI_Win_free(&win);
  MPI_Comm_free(&of_dup);
  MPI_Comm_free(&dup);
  MPI_Errhandler_free(&handler);
  return expect::finish();
}
