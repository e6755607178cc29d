// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Symbols that programs find in Open MPI's libraries of Fortran, beside the procedures of MPI: common blocks,
// comparisons of handles, sizes of variables, both forms of a status. Names of modules are those that gfortran gives.

#include "fortran/convert.hpp"
#include "fortran/handle_kinds.hpp"

#define WEFT_EXPORTED __attribute__((visibility("default")))

extern "C" {
WEFT_EXPORTED MPI_Fint mpi_fortran_bottom_, mpi_fortran_in_place_;
WEFT_EXPORTED MPI_Fint mpi_fortran_unweighted_[1], mpi_fortran_weights_empty_[1], mpi_fortran_errcodes_ignore_[1];
WEFT_EXPORTED MPI_Fint mpi_fortran_status_ignore_[weft_status_size], mpi_fortran_statuses_ignore_[weft_status_size];
WEFT_EXPORTED char mpi_fortran_argv_null_[1], mpi_fortran_argvs_null_[1];
}

namespace weft::fortran {

// ---- Numbers of predefined handles, which the library of C knows

#define WEFT_NUMBER(kind, type)                \
  template <>                                  \
  MPI_Fint number_of_predefined(type handle) { \
    return PMPI_##kind##_c2f(handle);          \
  }
WEFT_NUMBER(Comm, MPI_Comm)
WEFT_NUMBER(Errhandler, MPI_Errhandler)
WEFT_NUMBER(File, MPI_File)
WEFT_NUMBER(Group, MPI_Group)
WEFT_NUMBER(Info, MPI_Info)
WEFT_NUMBER(Message, MPI_Message)
WEFT_NUMBER(Op, MPI_Op)
WEFT_NUMBER(Request, MPI_Request)
WEFT_NUMBER(Session, MPI_Session)
WEFT_NUMBER(Type, MPI_Datatype)
WEFT_NUMBER(Win, MPI_Win)
#undef WEFT_NUMBER

// ---- MPI_Isend by the function of C (openmpi_quick.cpp)

extern const bool isend_replaced;
const bool isend_replaced = is_replaced(MPI_Isend, PMPI_Isend);

#define WEFT_ISEND(name, function)                                                                   \
  void name(const void* buf, const MPI_Fint* count, const MPI_Fint* datatype, const MPI_Fint* dest,  \
            const MPI_Fint* tag, const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror);         \
  void name(const void* buf, const MPI_Fint* count, const MPI_Fint* datatype, const MPI_Fint* dest,  \
            const MPI_Fint* tag, const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror) {        \
    give(ierror, function(buffer_in(buf), *count, Convert<MPI_Datatype>::in(*datatype), *dest, *tag, \
                          Convert<MPI_Comm>::in(*comm), Out<MPI_Request>(request)));                 \
  }
WEFT_ISEND(isend_of_c, MPI_Isend)
WEFT_ISEND(pisend_of_c, PMPI_Isend)
#undef WEFT_ISEND

// ---- Comparisons, of the modules of 4.x and of 5.0

#define WEFT_COMPARED(own, module, kind, word, sign)                                              \
  extern "C" WEFT_EXPORTED MPI_Fint own##_##kind##_##word(                                        \
      const MPI_Fint* a, const MPI_Fint* b) __asm__("__" module "_MOD_ompi_" #kind "_op_" #word); \
  extern "C" MPI_Fint own##_##kind##_##word(const MPI_Fint* a, const MPI_Fint* b) {               \
    return *a sign * b ? 1 : 0;                                                                   \
  }
#define WEFT_COMPARED_BOTH(kind)                         \
  WEFT_COMPARED(weft_f08, "mpi_f08_types", kind, eq, ==) \
  WEFT_COMPARED(weft_f08, "mpi_f08_types", kind, ne, !=) \
  WEFT_COMPARED(weft_mpi, "mpi_types", kind, eq, ==)     \
  WEFT_COMPARED(weft_mpi, "mpi_types", kind, ne, !=)
WEFT_EACH_HANDLE(WEFT_COMPARED_BOTH)

// ---- Sizes: a procedure for each type and rank (fortran_openmpi.py) is another name of one of these

#define WEFT_SIZE(bytes)                                                                                   \
  extern "C" WEFT_EXPORTED void weft_sizeof_##bytes(const void* /*x*/, MPI_Fint* size, MPI_Fint* ierror) { \
    *size = bytes;                                                                                         \
    give(ierror, MPI_SUCCESS);                                                                             \
  }
WEFT_SIZE(1)
WEFT_SIZE(2)
WEFT_SIZE(4)
WEFT_SIZE(8)
WEFT_SIZE(16)
WEFT_SIZE(32)

// ---- A status is the same six integers in both forms

#define WEFT_STATUS(p, P)                                                                                 \
  extern "C" WEFT_EXPORTED void p##_status_f2f08_(const MPI_Fint* from, MPI_Fint* to, MPI_Fint* ierror) { \
    give(ierror, P##_Status_f2f08(from, reinterpret_cast<MPI_F08_status*>(to)));                          \
  }                                                                                                       \
  extern "C" WEFT_EXPORTED void p##_status_f082f_(const MPI_Fint* from, MPI_Fint* to, MPI_Fint* ierror) { \
    give(ierror, P##_Status_f082f(reinterpret_cast<const MPI_F08_status*>(from), to));                    \
  }
WEFT_STATUS(mpi, MPI)
WEFT_STATUS(pmpi, PMPI)

}  // namespace weft::fortran
