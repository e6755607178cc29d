// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// What Fortran over the standard ABI has of its own: common blocks, handles of objects, the calls of callbacks.

#include "fortran/calls.hpp"
#include "fortran/convert.hpp"

#define WEFT_EXPORTED __attribute__((visibility("default")))

extern "C" {
WEFT_EXPORTED MPI_Fint weft_fortran_bottom_, weft_fortran_in_place_, weft_fortran_buffer_automatic_;
WEFT_EXPORTED MPI_Fint weft_fortran_unweighted_[1], weft_fortran_weights_empty_[1], weft_fortran_errcodes_ignore_[1];
WEFT_EXPORTED char weft_fortran_argv_null_[1], weft_fortran_argvs_null_[1];
WEFT_EXPORTED MPI_Fint weft_fortran_status_ignore_[sizeof(MPI_Status) / sizeof(MPI_Fint)];
WEFT_EXPORTED MPI_Fint weft_fortran_statuses_ignore_[sizeof(MPI_Status) / sizeof(MPI_Fint)];
}

namespace weft::fortran {

namespace {

struct StandardHandles {
  template <class H>
  static MPI_Fint handle(H handle) {
    return Convert<H>::out(handle);
  }
  static MPI_Fint code(int code) { return code; }
};

}  // namespace

void mark_errhandler(MPI_Errhandler errhandler) {
  WEFT_FACE.hooks.mark_errhandler(errhandler, &FortranCalls<StandardHandles>::table);
}

void mark_op(MPI_Op op) {
  WEFT_FACE.hooks.mark_op(op, &FortranCalls<StandardHandles>::table);
}

}  // namespace weft::fortran
