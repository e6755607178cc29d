// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/mpich_runtime.hpp"

#include "foreign/abi_mpich.hpp"
#include "foreign/value.hpp"
#include "fortran/calls.hpp"

namespace weft::fortran {
namespace {

// libmpi.so.12 has learnt for itself where objects are.
template <class H>
H handle_in(int handle) {
  (void)foreign::known_origin();
  return foreign::in<H>(handle);
}

struct MpichHandles {
  template <class H>
  static int handle(H handle) {
    return foreign::out(handle);
  }
  // A file is a pointer in C, and the null handle 0 in both.
  static int handle(MPI_File file) { return file == MPI_FILE_NULL ? 0 : foreign::face.file_toint(file); }
  static int code(int code) { return foreign::error_out(code); }
};

}  // namespace

void mark_errhandler(int errhandler) {
  foreign::face.hooks.mark_errhandler(handle_in<MPI_Errhandler>(errhandler), &FortranCalls<MpichHandles>::table);
}

void mark_op(int op) {
  foreign::face.hooks.mark_op(handle_in<MPI_Op>(op), &FortranCalls<MpichHandles>::table);
}

int raise(const char* function, int error, const char* text) {
  return foreign::error_out(foreign::face.hooks.raise(function, foreign::error_in(error), text));
}

datatype::Runs list_runs(int type, int64_t count, int64_t position, iovec* runs, int room) {
  return foreign::face.hooks.list_runs(handle_in<MPI_Datatype>(type), count, position, runs, room);
}

static_assert(sizeof(Around) == sizeof(mpi::Around));
Around* surround(Around* around) {
  return reinterpret_cast<Around*>(foreign::face.hooks.surround(reinterpret_cast<mpi::Around*>(around)));
}

}  // namespace weft::fortran
