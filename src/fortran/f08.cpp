// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Procedures of mpi_f08 beside the functions of C: statuses of both forms, comparison of handles, sizes of variables.

#include "fortran/buffer.hpp"
#include "fortran/handle_kinds.hpp"

#define WEFT_PROCEDURE extern "C" __attribute__((visibility("default")))

namespace weft::fortran {

// Both forms have the layout of C's status. A conversion takes none of the names that ask for no status.
#define WEFT_STATUS(p)                                                                                  \
  WEFT_PROCEDURE void p##_status_f2f08_(const MPI_Fint* from, MPI_Status* to, MPI_Fint* ierror) {       \
    const bool wrong = status_in(from) == MPI_STATUS_IGNORE;                                            \
    if (!wrong) std::memcpy(to, from, sizeof *to);                                                      \
    give(ierror, wrong ? raise("MPI_Status_f2f08", {MPI_ERR_ARG, "there is no status"}) : MPI_SUCCESS); \
  }                                                                                                     \
  WEFT_PROCEDURE void p##_status_f082f_(const MPI_Fint* from, MPI_Fint* to, MPI_Fint* ierror) {         \
    const bool wrong = status_in(from) == MPI_STATUS_IGNORE;                                            \
    if (!wrong) std::memcpy(to, from, sizeof(MPI_Status));                                              \
    give(ierror, wrong ? raise("MPI_Status_f082f", {MPI_ERR_ARG, "there is no status"}) : MPI_SUCCESS); \
  }                                                                                                     \
  WEFT_F08(p##_status_f2f08)                                                                            \
  WEFT_F08(p##_status_f082f)                                                                            \
  WEFT_PROCEDURE void p##_sizeof_f08ts_(const Section* variable, MPI_Fint* size, MPI_Fint* ierror) {    \
    *size = static_cast<MPI_Fint>(variable->element);                                                   \
    give(ierror, MPI_SUCCESS);                                                                          \
  }                                                                                                     \
  WEFT_PROCEDURE void p##_f_sync_reg_f08ts_(const Section*) {}                                          \
  WEFT_FTS(p##_f_sync_reg)
WEFT_STATUS(mpi)
WEFT_STATUS(pmpi)

#define WEFT_COMPARED(name)                                                              \
  WEFT_PROCEDURE MPI_Fint weft_##name##_equal_(const MPI_Fint* a, const MPI_Fint* b) {   \
    return *a == *b ? 1 : 0;                                                             \
  }                                                                                      \
  WEFT_PROCEDURE MPI_Fint weft_##name##_unequal_(const MPI_Fint* a, const MPI_Fint* b) { \
    return *a != *b ? 1 : 0;                                                             \
  }
WEFT_EACH_HANDLE(WEFT_COMPARED)

}  // namespace weft::fortran
