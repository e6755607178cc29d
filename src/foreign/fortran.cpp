// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Statuses of Fortran, which have the layout of C's in other ABIs, and the variables that tell where Fortran's
// constants are.

#include <cstring>

#include "foreign/by_hand.hpp"
#include "foreign/convert.hpp"

#define WEFT_EXPORTED __attribute__((visibility("default")))

// Fortran's MPI_STATUS_IGNORE has an address of its own, which its library gives.
extern "C" {
WEFT_EXPORTED extern int* MPI_F_STATUS_IGNORE;
WEFT_EXPORTED extern int* MPI_F_STATUSES_IGNORE;
WEFT_EXPORTED extern weft::foreign::Status* MPI_F08_STATUS_IGNORE;
WEFT_EXPORTED extern weft::foreign::Status* MPI_F08_STATUSES_IGNORE;
}

namespace {
int ignored_status[sizeof(weft::foreign::Status) / sizeof(int)];
weft::foreign::Status ignored_f08_status;
}  // namespace

int* MPI_F_STATUS_IGNORE = ignored_status;
int* MPI_F_STATUSES_IGNORE = ignored_status;
weft::foreign::Status* MPI_F08_STATUS_IGNORE = &ignored_f08_status;
weft::foreign::Status* MPI_F08_STATUSES_IGNORE = &ignored_f08_status;

namespace weft::foreign {
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

}  // namespace weft::foreign
