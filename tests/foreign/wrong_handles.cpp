// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Handles that are none: random numbers, handles of other kinds, of freed objects, near those of live ones. Each call
// must give an error of the ABI's classes, and the program goes on.
#include <mpi.h>

#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "same.hpp"

namespace {

// Handles are integers in MPICH's ABI, and pointers in Open MPI's.
constexpr bool integers = std::is_integral_v<MPI_Comm>;
using Number = std::conditional_t<integers, int, intptr_t>;

template <class Handle>
Handle as(Number number) {
  if constexpr (integers) {
    return number;
  } else {
    return reinterpret_cast<Handle>(number);
  }
}
template <class Handle>
Number number_of(Handle handle) {
  if constexpr (integers) {
    return handle;
  } else {
    return reinterpret_cast<Number>(handle);
  }
}

// Calls that get the handle, and the class of error that each must give.
void try_handle(Number wrong) {
  int number = 0;
  int flag = 0;
  MPI_Request made = MPI_REQUEST_NULL;
  void* pointer = nullptr;
  char text[MPI_MAX_OBJECT_NAME];
  MPI_Status status;
  const auto is = [](int error, int wanted) {
    const int found = expect::class_of(error);
    EXPECT(found == wanted, "class %d, not %d", found, wanted);
  };
  is(MPI_Comm_rank(as<MPI_Comm>(wrong), &number), MPI_ERR_COMM);
  is(MPI_Comm_get_attr(as<MPI_Comm>(wrong), MPI_TAG_UB, &pointer, &flag), MPI_ERR_COMM);
  is(MPI_Isend(&number, 1, MPI_INT, 0, 0, as<MPI_Comm>(wrong), &made), MPI_ERR_COMM);
  is(MPI_Barrier(as<MPI_Comm>(wrong)), MPI_ERR_COMM);
  is(MPI_Type_size(as<MPI_Datatype>(wrong), &number), MPI_ERR_TYPE);
  is(MPI_Send(&number, 1, as<MPI_Datatype>(wrong), 0, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
  is(MPI_Type_get_name(as<MPI_Datatype>(wrong), text, &number), MPI_ERR_TYPE);
  is(MPI_Group_size(as<MPI_Group>(wrong), &number), MPI_ERR_GROUP);
  is(MPI_Op_commutative(as<MPI_Op>(wrong), &number), MPI_ERR_OP);
  is(MPI_Comm_set_errhandler(MPI_COMM_SELF, as<MPI_Errhandler>(wrong)), MPI_ERR_ERRHANDLER);
  is(MPI_Info_get_nkeys(as<MPI_Info>(wrong), &number), MPI_ERR_INFO);
  is(MPI_Win_fence(0, as<MPI_Win>(wrong)), MPI_ERR_WIN);
  is(MPI_Session_get_num_psets(as<MPI_Session>(wrong), MPI_INFO_NULL, &number), MPI_ERR_SESSION);
  MPI_Request request = as<MPI_Request>(wrong);
  is(MPI_Wait(&request, &status), MPI_ERR_REQUEST);
  SAME(request, as<MPI_Request>(wrong));
  is(MPI_Request_free(&request), MPI_ERR_REQUEST);
  MPI_Message message = as<MPI_Message>(wrong);
  HOLDS(MPI_Mrecv(&number, 1, MPI_INT, &message, &status) != MPI_SUCCESS);
  MPI_Comm comm = as<MPI_Comm>(wrong);
  is(MPI_Comm_free(&comm), MPI_ERR_COMM);
  MPI_Datatype type = as<MPI_Datatype>(wrong);
  is(MPI_Type_free(&type), MPI_ERR_TYPE);
}

Number freed_type() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(3, MPI_INT, &type);
  const Number handle = number_of(type);
  MPI_Type_free(&type);
  return handle;
}

// Addresses of this program's memory, and inside and beside predefined handles.
void try_addresses() {
#ifdef OPEN_MPI
  static char own[4096];
  int automatic = 0;
  const Number world = number_of(MPI_COMM_WORLD);
  const Number sum = number_of(MPI_SUM);
  for (Number i = 0; i < 4096; i += 7) try_handle(number_of(own + i));
  for (Number i = 1; i < 512; ++i) try_handle(world + i);
  for (Number i = 8; i < 2048; i += 8) try_handle(sum + i);
  for (const Number handle : {number_of(&automatic), number_of(MPI_FILE_NULL)}) try_handle(handle);
#endif
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
  std::mt19937_64 random(20261125);
  for (int i = 0; i < 2000; ++i) {
    const auto handle = static_cast<Number>(random());
    // Where objects are, and where predefined handles have their numbers, any one might be good.
    if (!integers || (static_cast<uint32_t>(handle) >> 30) != 3) try_handle(handle);
    if (integers) try_handle(static_cast<int>(0xc8000000U + (static_cast<uint32_t>(random()) >> 6)));
  }
  try_addresses();
  // In front of, between and behind live objects.
  MPI_Comm live = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &live);
  for (int near = -200; near < 200; ++near) {
    int number = 0;
    int error = MPI_Group_size(as<MPI_Group>(number_of(live) + near), &number);
    HOLDS(error == MPI_SUCCESS || expect::class_of(error) == MPI_ERR_GROUP);
    error = MPI_Type_size(as<MPI_Datatype>(number_of(live) + near), &number);
    HOLDS(error == MPI_SUCCESS || expect::class_of(error) == MPI_ERR_TYPE);
  }
  int number = -1;
  MPI_Comm_size(live, &number);
  SAME(number, 1);
  MPI_Comm_free(&live);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  return expect::finish();
}
