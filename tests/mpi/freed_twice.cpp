// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Handles that are freed more often than they were got, by copies: an error each time, and the objects that use what
// the handle stands for keep it.
#include "expect.hpp"

namespace {

constexpr int times = 10;

int reported = 0;

void count(MPI_Comm*, int*, ...) {
  ++reported;
}
void count_of_window(MPI_Win*, int*, ...) {
  ++reported;
}
void reduce(void* in, void* inout, int* length, MPI_Datatype*) {
  for (int i = 0; i < *length; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

// Frees copies of `handle`: the first `held` times are right.
template <class Handle>
void free_copies(Handle handle, int free(Handle*), int held, int error, Handle null) {
  for (int i = 0; i < times; ++i) {
    Handle copy = handle;
    EXPECT_CLASS(free(&copy), i < held ? MPI_SUCCESS : error);
    EXPECT(copy == (i < held ? null : handle), "copy %d", i);
  }
}

// Collective operations, new communicators and groups of the communicator still work.
void use(MPI_Comm comm) {
  int sum = -1;
  int rank = -1;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  EXPECT_CLASS(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
  EXPECT(sum == size * (size - 1) / 2, "%d", sum);
  MPI_Comm twin = MPI_COMM_NULL;
  MPI_Comm_dup(comm, &twin);
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm_group(twin, &group);
  int members = -1;
  MPI_Group_size(group, &members);
  EXPECT(members == size, "%d", members);
  free_copies(group, MPI_Group_free, 1, MPI_ERR_GROUP, MPI_GROUP_NULL);
  MPI_Comm_free(&twin);
}

void groups() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -expect::rank, &comm);
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group again = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &group);
  free_copies(group, MPI_Group_free, 1, MPI_ERR_GROUP, MPI_GROUP_NULL);
  use(comm);
  MPI_Comm_group(comm, &group);
  MPI_Comm_group(comm, &again);
  free_copies(again, MPI_Group_free, group == again ? 2 : 1, MPI_ERR_GROUP, MPI_GROUP_NULL);
  use(comm);
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Group some = MPI_GROUP_NULL;
  const int first = 0;
  MPI_Group_incl(group, 1, &first, &some);
  MPI_Comm of_first = MPI_COMM_NULL;
  MPI_Comm_create(MPI_COMM_WORLD, some, &of_first);
  free_copies(some, MPI_Group_free, 1, MPI_ERR_GROUP, MPI_GROUP_NULL);
  free_copies(group, MPI_Group_free, 1, MPI_ERR_GROUP, MPI_GROUP_NULL);
  if (of_first != MPI_COMM_NULL) {
    use(of_first);
    MPI_Comm_free(&of_first);
  }
  use(comm);
  use(MPI_COMM_WORLD);
  int value = 0;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, comm, &win);
  MPI_Win_get_group(win, &group);
  free_copies(group, MPI_Group_free, 1, MPI_ERR_GROUP, MPI_GROUP_NULL);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  use(comm);
  MPI_Comm_free(&comm);
}

void error_handlers() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(count, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);
  MPI_Comm_get_errhandler(comm, &handler);
  free_copies(handler, MPI_Errhandler_free, 1, MPI_ERR_ERRHANDLER, MPI_ERRHANDLER_NULL);
  reported = 0;
  (void)MPI_Comm_set_name(comm, nullptr);
  EXPECT(reported == 1, "the handler was called %d times", reported);
  MPI_Comm_free(&comm);
  int value = 0;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_create_errhandler(count_of_window, &handler);
  MPI_Win_set_errhandler(win, handler);
  free_copies(handler, MPI_Errhandler_free, 1, MPI_ERR_ERRHANDLER, MPI_ERRHANDLER_NULL);
  (void)MPI_Win_set_name(win, nullptr);
  EXPECT(reported == 2, "the handlers were called %d times", reported);
  MPI_Win_free(&win);
  handler = MPI_ERRORS_RETURN;
  free_copies(handler, MPI_Errhandler_free, times, MPI_ERR_ERRHANDLER, MPI_ERRHANDLER_NULL);
}

void others() {
  MPI_Datatype part = MPI_DATATYPE_NULL;
  MPI_Datatype whole = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &part);
  MPI_Type_contiguous(2, part, &whole);
  MPI_Type_commit(&whole);
  const int out[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  int in[8] = {};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(in, 1, whole, 0, 5, MPI_COMM_SELF, &request);
  free_copies(part, MPI_Type_free, 1, MPI_ERR_TYPE, MPI_DATATYPE_NULL);
  MPI_Send(out, 1, whole, 0, 5, MPI_COMM_SELF);
  free_copies(whole, MPI_Type_free, 1, MPI_ERR_TYPE, MPI_DATATYPE_NULL);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT(in[0] == 1 && in[2] == 3 && in[1] == 0, "%d %d %d", in[0], in[1], in[2]);
  // A type's parts, as MPI_Type_get_contents gives them.
  MPI_Type_contiguous(3, MPI_INT, &part);
  MPI_Type_contiguous(2, part, &whole);
  int count = 0;
  MPI_Aint address = 0;
  MPI_Datatype given = MPI_DATATYPE_NULL;
  MPI_Type_get_contents(whole, 1, 0, 1, &count, &address, &given);
  if (given != part) free_copies(given, MPI_Type_free, 1, MPI_ERR_TYPE, MPI_DATATYPE_NULL);
  int bytes = 0;
  EXPECT_CLASS(MPI_Type_size(part, &bytes), MPI_SUCCESS);
  EXPECT(bytes == 12, "%d", bytes);
  free_copies(part, MPI_Type_free, given == part ? 2 : 1, MPI_ERR_TYPE, MPI_DATATYPE_NULL);
  free_copies(whole, MPI_Type_free, 1, MPI_ERR_TYPE, MPI_DATATYPE_NULL);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(reduce, 1, &op);
  int sum = 0;
  const int one = 1;
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD, &request);
  free_copies(op, MPI_Op_free, 1, MPI_ERR_OP, MPI_OP_NULL);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT(sum == expect::size, "%d", sum);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  free_copies(info, MPI_Info_free, 1, MPI_ERR_INFO, MPI_INFO_NULL);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (int i = 0; i < 3; ++i) {
    groups();
    error_handlers();
    others();
    use(MPI_COMM_WORLD);
  }
  return expect::finish();
}
