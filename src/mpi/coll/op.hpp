// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Reduction operations as collectives use them.

#include "coll/reducer.hpp"
#include "mpi/object/object.hpp"

namespace weft::mpi {

// An operation on a datatype. It keeps what it needs of the operation, which may be freed before it is used: only the
// type must live.
struct OpReducer : coll::Reducer {
  datatype::Kernel kernel = nullptr;  // of a predefined operation
  MPI_User_function* narrow = nullptr;
  MPI_User_function_c* wide = nullptr;
  MPI_Datatype datatype = MPI_DATATYPE_NULL;  // what the user's function is told
};

// Fills `reducer`; otherwise raises the error of an operation that is none, or that is not defined for the type.
[[nodiscard]] int make_reducer(OpReducer& reducer, const Comm* comm, const char* function, MPI_Op op, Type& type,
                               MPI_Datatype datatype);

}  // namespace weft::mpi
