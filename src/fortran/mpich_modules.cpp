// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Symbols that programs find in the objects of MPICH's modules and common blocks, beside the procedures of MPI:
// variables that stand for addresses, comparisons of handles, sizes of variables. The names are those that gfortran
// gives.

#include "fortran/handle_kinds.hpp"
#include "fortran/native_array.hpp"

#define WEFT_EXPORTED __attribute__((visibility("default")))

extern "C" {
WEFT_EXPORTED weft_mpipriv1 mpipriv1_;
WEFT_EXPORTED weft_mpipriv2 mpipriv2_;
WEFT_EXPORTED weft_mpiprivc mpiprivc_;
WEFT_EXPORTED MPI_Fint mpifcmb5_, mpifcmb9_, mpifcmba_;
WEFT_EXPORTED MPI_Fint MPIR_F08_MPI_BOTTOM, MPIR_F08_MPI_IN_PLACE;
WEFT_EXPORTED MPI_Status MPIR_F08_MPI_STATUS_IGNORE_OBJ, MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1];
WEFT_EXPORTED MPI_Fint weft_f08_unweighted, weft_f08_weights_empty, weft_f08_buffer_automatic;
WEFT_EXPORTED MPI_Fint weft_f08_errcodes_ignore[1];
WEFT_EXPORTED char weft_f08_argv_null[1], weft_f08_argvs_null[1];
}

#define WEFT_NAMED(result, own, name, ...)                        \
  extern "C" WEFT_EXPORTED result own(__VA_ARGS__) __asm__(name); \
  extern "C" result own(__VA_ARGS__)

#define WEFT_COMPARISON(own, name, operation)                             \
  WEFT_NAMED(MPI_Fint, own, name, const MPI_Fint* a, const MPI_Fint* b) { \
    return *a operation * b ? 1 : 0;                                      \
  }
// Of the module mpi, and of mpi_f08, which compares with integers as well.
#define WEFT_COMPARED(kind)                                                                       \
  WEFT_COMPARISON(weft_##kind##_equal, "__mpi_constants_MOD_" #kind "eq", ==)                     \
  WEFT_COMPARISON(weft_##kind##_unequal, "__mpi_constants_MOD_" #kind "neq", !=)                  \
  WEFT_COMPARISON(weft_f08_##kind##_equal, "__mpi_f08_types_MOD_mpi_" #kind "_eq", ==)            \
  WEFT_COMPARISON(weft_f08_##kind##_unequal, "__mpi_f08_types_MOD_mpi_" #kind "_neq", !=)         \
  WEFT_COMPARISON(weft_f08_##kind##_equal_f, "__mpi_f08_types_MOD_mpi_" #kind "_f08_eq_f", ==)    \
  WEFT_COMPARISON(weft_f08_##kind##_unequal_f, "__mpi_f08_types_MOD_mpi_" #kind "_f08_neq_f", !=) \
  WEFT_COMPARISON(weft_f_##kind##_equal_f08, "__mpi_f08_types_MOD_mpi_" #kind "_f_eq_f08", ==)    \
  WEFT_COMPARISON(weft_f_##kind##_unequal_f08, "__mpi_f08_types_MOD_mpi_" #kind "_f_neq_f08", !=)
WEFT_EACH_HANDLE(WEFT_COMPARED)

#define WEFT_SIZE(own, name, bytes)                                                  \
  WEFT_NAMED(void, own, name, const void* /*x*/, MPI_Fint* size, MPI_Fint* ierror) { \
    *size = bytes;                                                                   \
    weft::fortran::give(ierror, MPI_SUCCESS);                                        \
  }
// The module mpi has a procedure for scalars and one for arrays.
#define WEFT_SIZES(kind, bytes)                                               \
  WEFT_SIZE(weft_sizeof_##kind, "__mpi_sizeofs_MOD_mpi_sizeof_" #kind, bytes) \
  WEFT_SIZE(weft_sizeof_##kind##v, "__mpi_sizeofs_MOD_mpi_sizeof_" #kind "v", bytes)
WEFT_SIZES(ch, 1)
WEFT_SIZES(cx, 8)
WEFT_SIZES(d, 8)
WEFT_SIZES(i, 4)
WEFT_SIZES(i1, 1)
WEFT_SIZES(i2, 2)
WEFT_SIZES(i8, 8)
WEFT_SIZES(l, 4)
WEFT_SIZES(r, 4)

#define WEFT_F08_SIZE(kind, bytes) WEFT_SIZE(weft_f08_sizeof_##kind, "__mpi_f08_types_MOD_mpi_sizeof_" #kind, bytes)
WEFT_F08_SIZE(character, 1)
WEFT_F08_SIZE(logical, 4)
WEFT_F08_SIZE(xint8, 1)
WEFT_F08_SIZE(xint16, 2)
WEFT_F08_SIZE(xint32, 4)
WEFT_F08_SIZE(xint64, 8)
WEFT_F08_SIZE(xreal32, 4)
WEFT_F08_SIZE(xreal64, 8)
WEFT_F08_SIZE(xreal128, 16)
WEFT_F08_SIZE(xcomplex32, 8)
WEFT_F08_SIZE(xcomplex64, 16)
WEFT_F08_SIZE(xcomplex128, 32)

extern "C" {
WEFT_EXPORTED void mpi_f_sync_reg_f08ts_(const weft::fortran::NativeArray* /*buf*/) {}
WEFT_EXPORTED void pmpi_f_sync_reg_f08ts_(const weft::fortran::NativeArray* /*buf*/) {}
}

// A status is the same five integers in both forms.
#define WEFT_STATUS(p, P)                                                                                       \
  extern "C" WEFT_EXPORTED void p##_status_f2f08_(const MPI_Fint* from, MPI_F08_status* to, MPI_Fint* ierror) { \
    weft::fortran::give(ierror, P##_Status_f2f08(from, to));                                                    \
  }                                                                                                             \
  extern "C" WEFT_EXPORTED void p##_status_f082f_(const MPI_F08_status* from, MPI_Fint* to, MPI_Fint* ierror) { \
    weft::fortran::give(ierror, P##_Status_f082f(from, to));                                                    \
  }
WEFT_STATUS(mpi, MPI)
WEFT_STATUS(pmpi, PMPI)
