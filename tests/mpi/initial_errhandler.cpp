// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The error handler a program begins with, as mpiexec -initial-errhandler chooses it: before MPI_Init, on the
// predefined communicators and what is made from them, in sessions, after MPI_Finalize. The argument names it.
#include <cstring>

#include "expect.hpp"

namespace {

MPI_Errhandler handler_of(MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(comm, &handler);
  return handler;
}

void without_mpi() {
  int value = 0;
  EXPECT_CLASS(MPI_Comm_size(MPI_COMM_WORLD, &value), MPI_ERR_OTHER);
  EXPECT_CLASS(MPI_Wait(nullptr, MPI_STATUS_IGNORE), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Add_error_class(nullptr), MPI_ERR_ARG);
}

void in_a_session() {
  MPI_Session session;
  MPI_Group group;
  int size = 0;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  EXPECT_CLASS(MPI_Group_size(MPI_GROUP_NULL, &size), MPI_ERR_GROUP);
  MPI_Group_from_session_pset(session, "mpi://SELF", &group);
  EXPECT_CLASS(MPI_Group_size(group, &size), MPI_SUCCESS);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
}

}  // namespace

int main(int argc, char** argv) {
  const bool returns = argc > 1 && strcmp(argv[1], "mpi_errors_return") == 0;
  const MPI_Errhandler wanted = argc < 2 ? MPI_ERRORS_ARE_FATAL : returns ? MPI_ERRORS_RETURN : MPI_ERRORS_ABORT;
  if (returns) {
    without_mpi();
    in_a_session();
  }
  expect::start(&argc, &argv);
  EXPECT(handler_of(MPI_COMM_WORLD) == wanted && handler_of(MPI_COMM_SELF) == wanted, "another handler");
  MPI_Comm dup;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  EXPECT(handler_of(dup) == wanted, "the duplicate has another handler");
  MPI_Comm_free(&dup);
  char text[64] = "";
  int length = sizeof text, flag = 0;
  MPI_Info_get_string(MPI_INFO_ENV, "mpi_initial_errhandler", &length, text, &flag);
  EXPECT(flag == (argc > 1 ? 1 : 0) && (argc < 2 || strcmp(text, argv[1]) == 0), "MPI_INFO_ENV says \"%s\"", text);
  MPI_Finalize();
  if (returns) without_mpi();
  return expect::failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
