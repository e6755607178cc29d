// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The handler of an error: the communicator's handler, that of MPI_COMM_SELF for calls without one; inheritance; life.
#include "expect.hpp"

namespace {

MPI_Comm seen_comm = MPI_COMM_NULL;
int seen_code = 0;
int calls = 0;

void remember(MPI_Comm* comm, int* code, ...) {
  seen_comm = *comm;
  seen_code = *code;
  ++calls;
}

// A wrong argument on this communicator.
int provoke(MPI_Comm comm) {
  return MPI_Comm_set_name(comm, nullptr);
}

void expect_call(MPI_Comm comm, int wanted) {
  int before = calls;
  EXPECT_CLASS(provoke(comm), wanted);
  EXPECT(calls == before + 1 && seen_comm == comm && seen_code == wanted, "calls %d, code %d", calls - before,
         seen_code);
}

void handlers_are_inherited() {
  MPI_Errhandler handler, got;
  MPI_Comm_create_errhandler(remember, &handler);
  MPI_Comm dup, child;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_set_errhandler(dup, handler);
  expect_call(dup, MPI_ERR_ARG);
  MPI_Comm_split(dup, 0, 0, &child);
  MPI_Comm_get_errhandler(child, &got);
  EXPECT(got == handler, "the child has another handler");
  MPI_Errhandler_free(&got);
  MPI_Errhandler_free(&handler);
  expect_call(child, MPI_ERR_ARG);  // the communicators keep it
  MPI_Comm_free(&dup);
  expect_call(child, MPI_ERR_ARG);
  MPI_Comm_free(&child);
}

void no_comm_means_self() {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(remember, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  MPI_Errhandler_free(&handler);
  int size = 0, before = calls;
  EXPECT_CLASS(MPI_Group_size(MPI_GROUP_NULL, &size), MPI_ERR_GROUP);
  EXPECT(calls == before + 1 && seen_comm == MPI_COMM_SELF, "%d calls", calls - before);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  EXPECT_CLASS(MPI_Comm_size(MPI_COMM_NULL, &size), MPI_ERR_COMM);
  EXPECT(calls == before + 1, "the old handler was called");
}

void called_by_hand() {
  MPI_Errhandler handler;
  MPI_Comm dup;
  MPI_Comm_create_errhandler(remember, &handler);
  MPI_Comm_dup(MPI_COMM_SELF, &dup);
  MPI_Comm_set_errhandler(dup, handler);
  int before = calls;
  EXPECT(MPI_Comm_call_errhandler(dup, MPI_ERR_TOPOLOGY) == MPI_SUCCESS, "an error came back");
  EXPECT(calls == before + 1 && seen_code == MPI_ERR_TOPOLOGY && seen_comm == dup, "code %d", seen_code);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&dup);
}

void wrong_arguments() {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  EXPECT_CLASS(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
  EXPECT_CLASS(MPI_Comm_set_errhandler(MPI_COMM_NULL, MPI_ERRORS_RETURN), MPI_ERR_COMM);
  EXPECT_CLASS(MPI_Errhandler_free(&handler), MPI_ERR_ERRHANDLER);
  EXPECT_CLASS(MPI_Comm_create_errhandler(nullptr, &handler), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Comm_get_errhandler(MPI_COMM_WORLD, nullptr), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Comm_call_errhandler(MPI_COMM_WORLD, 12345678), MPI_ERR_ARG);
  MPI_Comm_create_errhandler(remember, &handler);
  MPI_Errhandler copy = handler;
  MPI_Errhandler_free(&handler);
  EXPECT_CLASS(MPI_Comm_set_errhandler(MPI_COMM_WORLD, copy), MPI_ERR_ERRHANDLER);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Errhandler first;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &first);
  EXPECT(first == MPI_ERRORS_ARE_FATAL, "the first handler is another one");
  MPI_Errhandler_free(&first);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  EXPECT_CLASS(provoke(MPI_COMM_WORLD), MPI_ERR_ARG);
  handlers_are_inherited();
  no_comm_means_self();
  called_by_hand();
  wrong_arguments();
  return expect::finish();
}
