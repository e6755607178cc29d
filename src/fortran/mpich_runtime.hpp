// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Hooks of the runtime for Fortran of MPICH's ABI, with handles and error classes of that ABI: the files that include
// mpi.h of MPICH cannot see the declarations of the runtime, which have the types of the standard ABI.
#pragma once

#include "datatype/runs.hpp"

namespace weft::fortran {

// This struct has the layout of mpi::Around.
struct Around {
  void (*begin)(Around* around);
  void (*end)(Around* around);
  void (*gone)(Around* around);
};

// How the runtime calls the functions of an object: with integers of Fortran.
void mark_errhandler(int errhandler);
void mark_op(int op);

// Hooks of mpi/object/foreign.hpp.
[[gnu::cold]] int raise(const char* function, int error, const char* text);
datatype::Runs list_runs(int type, int64_t count, int64_t position, iovec* runs, int room);
Around* surround(Around* around);

}  // namespace weft::fortran
