// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Handles and statuses of Fortran: handles are the same integers, and so are the statuses, as five of them. The
// variables that programs find in MPICH's library.

#include <cstring>

#include "mpich/by_hand.hpp"
#include "mpich/convert.hpp"

#define WEFT_EXPORTED __attribute__((visibility("default")))

// Fortran's MPI_STATUS_IGNORE has an address of its own, which its library gives.
extern "C" {
WEFT_EXPORTED extern int* MPI_F_STATUS_IGNORE;
WEFT_EXPORTED extern int* MPI_F_STATUSES_IGNORE;
WEFT_EXPORTED extern weft::mpich::Status* MPI_F08_STATUS_IGNORE;
WEFT_EXPORTED extern weft::mpich::Status* MPI_F08_STATUSES_IGNORE;
WEFT_EXPORTED extern int* const weft_unweighted __asm__("MPI_UNWEIGHTED");
WEFT_EXPORTED extern int* const weft_weights_empty __asm__("MPI_WEIGHTS_EMPTY");
WEFT_EXPORTED extern MPI_T_pvar_handle const weft_all_handles __asm__("MPI_T_PVAR_ALL_HANDLES");
}

namespace {
int ignored_status[sizeof(weft::mpich::Status) / sizeof(int)];
weft::mpich::Status ignored_f08_status;
}  // namespace

int* MPI_F_STATUS_IGNORE = ignored_status;
int* MPI_F_STATUSES_IGNORE = ignored_status;
weft::mpich::Status* MPI_F08_STATUS_IGNORE = &ignored_f08_status;
weft::mpich::Status* MPI_F08_STATUSES_IGNORE = &ignored_f08_status;
// Variables in MPICH's ABI, so they can have the standard's values.
int* const weft_unweighted = MPI_UNWEIGHTED;
int* const weft_weights_empty = MPI_WEIGHTS_EMPTY;
MPI_T_pvar_handle const weft_all_handles = MPI_T_PVAR_ALL_HANDLES;

namespace weft::mpich {
namespace {

bool is_ignored(const void* status) {
  return no_place(status) || status == MPI_F_STATUS_IGNORE || status == MPI_F_STATUSES_IGNORE ||
         status == MPI_F08_STATUS_IGNORE || status == MPI_F08_STATUSES_IGNORE;
}

int copy(const void* from, void* to) {
  if (is_ignored(from) || no_place(to)) return error_out(MPI_ERR_OTHER);
  memcpy(to, from, sizeof(Status));
  return MPI_SUCCESS;
}

}  // namespace

int status_c2f(const Status* c_status, int* f_status) {
  return copy(c_status, f_status);
}
int status_f2c(const int* f_status, Status* c_status) {
  return copy(f_status, c_status);
}
int status_c2f08(const Status* c_status, Status* f08_status) {
  return copy(c_status, f08_status);
}
int status_f082c(const Status* f08_status, Status* c_status) {
  return copy(f08_status, c_status);
}
int status_f2f08(const int* f_status, Status* f08_status) {
  return copy(f_status, f08_status);
}
int status_f082f(const Status* f08_status, int* f_status) {
  return copy(f08_status, f_status);
}

#define WEFT_SAME(kind)            \
  int kind##_c2f(int handle) {     \
    return handle;                 \
  }                                \
  int kind##_f2c(int handle) {     \
    return handle;                 \
  }                                \
  int kind##_toint(int handle) {   \
    return handle;                 \
  }                                \
  int kind##_fromint(int handle) { \
    return handle;                 \
  }
WEFT_SAME(comm)
WEFT_SAME(errhandler)
WEFT_SAME(group)
WEFT_SAME(info)
WEFT_SAME(message)
WEFT_SAME(op)
WEFT_SAME(request)
WEFT_SAME(session)
WEFT_SAME(type)
WEFT_SAME(win)
#undef WEFT_SAME

// The null handle is 0 in C and in Fortran.
int file_toint(MPI_File file) {
  return file == nullptr ? 0 : face.file_toint(in_file(file));
}
MPI_File file_fromint(int file) {
  return file == 0 ? nullptr : out_file(face.file_fromint(file));
}
int file_c2f(MPI_File file) {
  return file_toint(file);
}
MPI_File file_f2c(int file) {
  return file_fromint(file);
}

}  // namespace weft::mpich
