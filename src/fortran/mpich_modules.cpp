// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Symbols that programs find in the objects of MPICH's modules and common commons, beside the procedures of MPI:
// variables that stand for addresses, comparisons of handles, sizes of variables. Names of modules are those that
// gfortran, flang and Intel's compilers give.

#include "fortran/handle_kinds.hpp"
#include "fortran/native_array.hpp"

#define WEFT_EXPORTED __attribute__((visibility("default")))

// A common block by the three names that compilers give it. The hidden name is of the block here, whether or not a
// program has one of the same name.
#define WEFT_BLOCK(type, block, BLOCK)                                                                        \
  extern "C" WEFT_EXPORTED type block##_, block, BLOCK;                                                       \
  type block##_, block, BLOCK;                                                                                \
  extern "C" {                                                                                                \
  extern type weft_own_##block __attribute__((visibility("hidden"), alias(#block)));                          \
  extern type weft_own_##BLOCK __attribute__((visibility("hidden"), alias(#BLOCK)));                          \
  }                                                                                                           \
  static const type* program_##block() {                                                                      \
    if (same_place(&(block), &weft_own_##block) && same_place(&(BLOCK), &weft_own_##BLOCK)) return &block##_; \
    return same_place(&(block), &weft_own_##block) ? &(BLOCK) : &(block);                                     \
  }

// Names of two variables that the compiler takes for different ones.
static bool same_place(const void* one, const void* other) {
  asm("" : "+r"(one));
  return one == other;
}

WEFT_BLOCK(weft_mpipriv1, mpipriv1, MPIPRIV1)
WEFT_BLOCK(weft_mpipriv2, mpipriv2, MPIPRIV2)
WEFT_BLOCK(weft_mpiprivc, mpiprivc, MPIPRIVC)
WEFT_BLOCK(MPI_Fint, mpifcmb5, MPIFCMB5)
WEFT_BLOCK(MPI_Fint, mpifcmb9, MPIFCMB9)
WEFT_BLOCK(MPI_Fint, mpifcmba, MPIFCMBA)

namespace weft::fortran {
const Commons commons = {program_mpipriv1(), program_mpipriv2(), program_mpiprivc(),
                         program_mpifcmb5(), program_mpifcmb9(), program_mpifcmba()};
}

extern "C" {
WEFT_EXPORTED MPI_Fint MPIR_F08_MPI_BOTTOM, MPIR_F08_MPI_IN_PLACE;
WEFT_EXPORTED MPI_Status MPIR_F08_MPI_STATUS_IGNORE_OBJ, MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1];
}

// A variable of the module of variables that stand for addresses.
#define WEFT_VARIABLE(type, own, name, ...)                                                            \
  extern "C" WEFT_EXPORTED type own __VA_ARGS__;                                                       \
  type own __VA_ARGS__;                                                                                \
  extern "C" WEFT_EXPORTED type own##_flang __VA_ARGS__ __asm__("_QMmpi_f08_link_constantsE" name)     \
      __attribute__((weak, alias("__mpi_f08_link_constants_MOD_" name)));                              \
  extern "C" WEFT_EXPORTED type own##_intel __VA_ARGS__ __asm__("mpi_f08_link_constants_mp_" name "_") \
      __attribute__((weak, alias("__mpi_f08_link_constants_MOD_" name)));
WEFT_VARIABLE(MPI_Fint, weft_f08_unweighted, "mpi_unweighted")
WEFT_VARIABLE(MPI_Fint, weft_f08_weights_empty, "mpi_weights_empty")
WEFT_VARIABLE(MPI_Fint, weft_f08_buffer_automatic, "mpi_buffer_automatic")
WEFT_VARIABLE(MPI_Fint, weft_f08_errcodes_ignore, "mpi_errcodes_ignore", [1])
WEFT_VARIABLE(char, weft_f08_argv_null, "mpi_argv_null", [1])
WEFT_VARIABLE(char, weft_f08_argvs_null, "mpi_argvs_null", [1])

// A procedure of a module: WEFT_NAMED(result, own, module, name, parameters...) { body }
#define WEFT_NAMED(result, own, module, name, ...)                                         \
  extern "C" WEFT_EXPORTED result own(__VA_ARGS__) __asm__("__" module "_MOD_" name);      \
  extern "C" WEFT_EXPORTED result own##_flang(__VA_ARGS__) __asm__("_QM" module "P" name)  \
      __attribute__((alias("__" module "_MOD_" name)));                                    \
  extern "C" WEFT_EXPORTED result own##_intel(__VA_ARGS__) __asm__(module "_mp_" name "_") \
      __attribute__((alias("__" module "_MOD_" name)));                                    \
  extern "C" result own(__VA_ARGS__)

#define WEFT_COMPARISON(own, module, name, operation)                             \
  WEFT_NAMED(MPI_Fint, own, module, name, const MPI_Fint* a, const MPI_Fint* b) { \
    return *a operation * b ? 1 : 0;                                              \
  }
// The comparisons of the module mpi, and of mpi_f08, which compares handles with integers as well.
#define WEFT_COMPARED(kind)                                                                    \
  WEFT_COMPARISON(weft_##kind##_equal, "mpi_constants", #kind "eq", ==)                        \
  WEFT_COMPARISON(weft_##kind##_unequal, "mpi_constants", #kind "neq", !=)                     \
  WEFT_COMPARISON(weft_f08_##kind##_equal, "mpi_f08_types", "mpi_" #kind "_eq", ==)            \
  WEFT_COMPARISON(weft_f08_##kind##_unequal, "mpi_f08_types", "mpi_" #kind "_neq", !=)         \
  WEFT_COMPARISON(weft_f08_##kind##_equal_f, "mpi_f08_types", "mpi_" #kind "_f08_eq_f", ==)    \
  WEFT_COMPARISON(weft_f08_##kind##_unequal_f, "mpi_f08_types", "mpi_" #kind "_f08_neq_f", !=) \
  WEFT_COMPARISON(weft_f_##kind##_equal_f08, "mpi_f08_types", "mpi_" #kind "_f_eq_f08", ==)    \
  WEFT_COMPARISON(weft_f_##kind##_unequal_f08, "mpi_f08_types", "mpi_" #kind "_f_neq_f08", !=) \
  WEFT_COMPARISON(weft_f08_##kind##_ne_f, "mpi_f08_types", "mpi_" #kind "_f08_ne_f", !=)       \
  WEFT_COMPARISON(weft_f_##kind##_ne_f08, "mpi_f08_types", "mpi_" #kind "_f_ne_f08", !=)
WEFT_EACH_HANDLE(WEFT_COMPARED)

#define WEFT_SIZE(own, module, name, bytes)                                                  \
  WEFT_NAMED(void, own, module, name, const void* /*x*/, MPI_Fint* size, MPI_Fint* ierror) { \
    *size = bytes;                                                                           \
    weft::fortran::give(ierror, MPI_SUCCESS);                                                \
  }
// The module mpi has a procedure for scalars and one for arrays.
#define WEFT_SIZES(kind, bytes)                                            \
  WEFT_SIZE(weft_sizeof_##kind, "mpi_sizeofs", "mpi_sizeof_" #kind, bytes) \
  WEFT_SIZE(weft_sizeof_##kind##v, "mpi_sizeofs", "mpi_sizeof_" #kind "v", bytes)
WEFT_SIZES(ch, 1)
WEFT_SIZES(cx, 8)
WEFT_SIZES(d, 8)
WEFT_SIZES(i, 4)
WEFT_SIZES(i1, 1)
WEFT_SIZES(i2, 2)
WEFT_SIZES(i8, 8)
WEFT_SIZES(l, 4)
WEFT_SIZES(r, 4)

#define WEFT_F08_SIZE(kind, bytes) WEFT_SIZE(weft_f08_sizeof_##kind, "mpi_f08_types", "mpi_sizeof_" #kind, bytes)
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

// Whether buffers may lie in the memory of accelerators: the answer comes where other procedures have the error.
#define WEFT_QUERY(name, function)                          \
  extern "C" WEFT_EXPORTED void name##_(MPI_Fint* answer) { \
    weft::fortran::give(answer, function());                \
  }                                                         \
  WEFT_F08(name)
#define WEFT_QUERIES(p, P)                                                                                         \
  WEFT_QUERY(p##x_query_cuda_support, P##X_Query_cuda_support)                                                     \
  WEFT_QUERY(p##x_query_hip_support, P##X_Query_hip_support)                                                       \
  WEFT_QUERY(p##x_query_ze_support, P##X_Query_ze_support)                                                         \
  extern "C" WEFT_EXPORTED void p##x_gpu_query_support_(const MPI_Fint* kind, MPI_Fint* there, MPI_Fint* ierror) { \
    weft::fortran::give(ierror, P##X_GPU_query_support(*kind, there));                                             \
  }                                                                                                                \
  WEFT_F08(p##x_gpu_query_support)
WEFT_QUERIES(mpi, MPI)
WEFT_QUERIES(pmpi, PMPI)
