// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// libweft.so calls these, with the procedure as the program gave it: procedures of Fortran get integers. Side says
// which integers: those of the program's ABI.
#pragma once

#include "mpi/object/foreign.hpp"

namespace weft::fortran {

template <class Side>
struct FortranCalls {
  using UserFunction = void(void*, void*, int*, int*);
  using LargeFunction = void(void*, void*, MPI_Count*, int*);
  using ErrorFunction = void(int*, int*);

  template <class H, class Function>
  static void error(Function* function, H object, int standard, const char* /*text*/) {
    int handle = Side::handle(object);
    int code = Side::code(standard);
    reinterpret_cast<ErrorFunction*>(function)(&handle, &code);
  }
  static void reduce(MPI_User_function* function, void* in, void* inout, int count, MPI_Datatype datatype) {
    int handle = Side::handle(datatype);
    reinterpret_cast<UserFunction*>(function)(in, inout, &count, &handle);
  }
  static void reduce_large(MPI_User_function_c* function, void* in, void* inout, MPI_Count count,
                           MPI_Datatype datatype) {
    int handle = Side::handle(datatype);
    reinterpret_cast<LargeFunction*>(function)(in, inout, &count, &handle);
  }

  static constexpr mpi::ForeignCalls table = {error<MPI_Comm, MPI_Comm_errhandler_function>,
                                              error<MPI_Session, MPI_Session_errhandler_function>,
                                              error<MPI_Win, MPI_Win_errhandler_function>,
                                              error<MPI_File, MPI_File_errhandler_function>,
                                              reduce,
                                              reduce_large};
};

}  // namespace weft::fortran
