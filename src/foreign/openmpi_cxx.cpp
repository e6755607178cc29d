// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// libmpi_cxx.so.40: each program in C++ that includes Open MPI's mpi.h refers to these from tables of virtual functions
// that its compiler has put into it, and calls them nowhere. Programs that use the MPI:: classes themselves do not
// load.

#include <cstdio>
#include <cstdlib>

extern "C" {
[[noreturn]] __attribute__((visibility("default"))) void ompi_mpi_cxx_op_intercept();
[[noreturn]] __attribute__((visibility("default"))) void weft_comm_constructor() __asm__("_ZN3MPI4CommC2Ev");
[[noreturn]] __attribute__((visibility("default"))) void weft_datatype_free() __asm__("_ZN3MPI8Datatype4FreeEv");
[[noreturn]] __attribute__((visibility("default"))) void weft_win_free() __asm__("_ZN3MPI3Win4FreeEv");
}

namespace {

[[noreturn]] void refuse(const char* function) {
  (void)fprintf(stderr,
                "weft: %s of Open MPI's C++ binding was called, which MPI-3.0 removed and Weft does not have; "
                "use MPI's functions for C\n",
                function);
  abort();
}

}  // namespace

void ompi_mpi_cxx_op_intercept() {
  refuse("MPI::Op");
}
void weft_comm_constructor() {
  refuse("MPI::Comm::Comm");
}
void weft_datatype_free() {
  refuse("MPI::Datatype::Free");
}
void weft_win_free() {
  refuse("MPI::Win::Free");
}
