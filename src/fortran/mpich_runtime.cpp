// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/mpich_runtime.hpp"

#include "fortran/calls.hpp"
#include "mpich/handle.hpp"
#include "mpich/value.hpp"

namespace weft::fortran {
namespace {

// libmpi.so.12 has learnt for itself where objects are.
template <class H>
H handle_in(int handle) {
  (void)mpich::known_origin();
  return mpich::in<H>(handle);
}

struct Side {
  template <class H>
  static int handle(H handle) {
    return mpich::out(handle);
  }
  // A file is a pointer in C, and the null handle 0 in both.
  static int handle(MPI_File file) { return file == MPI_FILE_NULL ? 0 : mpich::face.file_toint(file); }
  static int code(int code) { return mpich::error_out(code); }
};

}  // namespace

void mark_errhandler(int errhandler) {
  mpich::face.hooks.mark_errhandler(handle_in<MPI_Errhandler>(errhandler), &Calls<Side>::table);
}

void mark_op(int op) {
  mpich::face.hooks.mark_op(handle_in<MPI_Op>(op), &Calls<Side>::table);
}

int raise(const char* function, int error, const char* text) {
  return mpich::error_out(mpich::face.hooks.raise(function, mpich::error_in(error), text));
}

datatype::Runs list_runs(int type, int64_t count, int64_t position, iovec* runs, int room) {
  return mpich::face.hooks.list_runs(handle_in<MPI_Datatype>(type), count, position, runs, room);
}

static_assert(sizeof(Around) == sizeof(mpi::Around));
Around* surround(Around* around) {
  return reinterpret_cast<Around*>(mpich::face.hooks.surround(reinterpret_cast<mpi::Around*>(around)));
}

}  // namespace weft::fortran
