// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Handles that are none: random numbers, handles of other kinds, of freed objects, near those of live ones. Each call
// must give an error of MPICH's classes, and the program goes on.
#include <mpi.h>

#include <cstdint>
#include <random>
#include <vector>

#include "same.hpp"

namespace {

// Calls that get the handle, and the class of error that each must give.
void try_handle(int handle) {
  int number = 0;
  int flag = 0;
  void* pointer = nullptr;
  char text[MPI_MAX_OBJECT_NAME];
  MPI_Status status;
  const auto is = [](int error, int wanted) {
    const int found = expect::class_of(error);
    EXPECT(found == wanted, "class %d, not %d", found, wanted);
  };
  is(MPI_Comm_rank(handle, &number), MPI_ERR_COMM);
  is(MPI_Comm_get_attr(handle, MPI_TAG_UB, &pointer, &flag), MPI_ERR_COMM);
  is(MPI_Isend(&number, 1, MPI_INT, 0, 0, handle, &flag), MPI_ERR_COMM);
  is(MPI_Barrier(handle), MPI_ERR_COMM);
  is(MPI_Type_size(handle, &number), MPI_ERR_TYPE);
  is(MPI_Send(&number, 1, handle, 0, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
  is(MPI_Type_get_name(handle, text, &number), MPI_ERR_TYPE);
  is(MPI_Group_size(handle, &number), MPI_ERR_GROUP);
  is(MPI_Op_commutative(handle, &number), MPI_ERR_OP);
  is(MPI_Comm_set_errhandler(MPI_COMM_SELF, handle), MPI_ERR_ERRHANDLER);
  is(MPI_Info_get_nkeys(handle, &number), MPI_ERR_INFO);
  is(MPI_Win_fence(0, handle), MPI_ERR_WIN);
  is(MPI_Session_get_num_psets(handle, MPI_INFO_NULL, &number), MPI_ERR_SESSION);
  MPI_Request request = handle;
  is(MPI_Wait(&request, &status), MPI_ERR_REQUEST);
  SAME(request, handle);
  is(MPI_Request_free(&request), MPI_ERR_REQUEST);
  MPI_Message message = handle;
  HOLDS(MPI_Mrecv(&number, 1, MPI_INT, &message, &status) != MPI_SUCCESS);
  MPI_Comm comm = handle;
  is(MPI_Comm_free(&comm), MPI_ERR_COMM);
  MPI_Datatype type = handle;
  is(MPI_Type_free(&type), MPI_ERR_TYPE);
}

int freed_type() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(3, MPI_INT, &type);
  const int handle = type;
  MPI_Type_free(&type);
  return handle;
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (const int handle : {0, 1, -1, 3, 257, 0x1fff, 0x44000007, 0x4c0004ff, 0x4c000000, INT32_MAX, INT32_MIN}) {
    try_handle(handle);
  }
  try_handle(freed_type());
  std::mt19937 random(20261125);
  for (int i = 0; i < 2000; ++i) {
    const auto handle = static_cast<int>(random());
    // Where objects are, and where predefined handles have their numbers, any one might be good.
    if ((static_cast<uint32_t>(handle) >> 30) != 3) try_handle(handle);
    try_handle(static_cast<int>(0xc8000000U + (random() >> 6)));
  }
  // In front of, between and behind live objects.
  MPI_Comm live = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &live);
  for (int near = -200; near < 200; ++near) {
    int number = 0;
    int error = MPI_Group_size(live + near, &number);
    HOLDS(error == MPI_SUCCESS || expect::class_of(error) == MPI_ERR_GROUP);
    error = MPI_Type_size(live + near, &number);
    HOLDS(error == MPI_SUCCESS || expect::class_of(error) == MPI_ERR_TYPE);
  }
  int number = -1;
  MPI_Comm_size(live, &number);
  SAME(number, 1);
  MPI_Comm_free(&live);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  return expect::finish();
}
