// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Fortran over MPICH's ABI: handles are C's integers, but for files; a status is C's, too. The variables that stand for
// addresses are those of MPICH's mpif.h and of its module mpi_f08. abi_standard.hpp is the same for the standard ABI.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fortran/mpich_runtime.hpp"

inline constexpr int weft_status_size = sizeof(MPI_Status) / sizeof(MPI_Fint);

extern "C" {
struct weft_mpipriv1 {
  MPI_Fint bottom;
  MPI_Fint in_place;
  MPI_Fint status_ignore[weft_status_size];
};
struct weft_mpipriv2 {
  MPI_Fint statuses_ignore[weft_status_size];
  MPI_Fint errcodes_ignore[1];
};
struct weft_mpiprivc {
  char argvs_null[1];
  char argv_null[1];
};
extern MPI_Fint MPIR_F08_MPI_BOTTOM, MPIR_F08_MPI_IN_PLACE;
extern MPI_Status MPIR_F08_MPI_STATUS_IGNORE_OBJ, MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1];
extern MPI_Fint weft_f08_buffer_automatic __asm__("__mpi_f08_link_constants_MOD_mpi_buffer_automatic");
extern MPI_Fint weft_f08_unweighted __asm__("__mpi_f08_link_constants_MOD_mpi_unweighted");
extern MPI_Fint weft_f08_weights_empty __asm__("__mpi_f08_link_constants_MOD_mpi_weights_empty");
extern MPI_Fint weft_f08_errcodes_ignore[1] __asm__("__mpi_f08_link_constants_MOD_mpi_errcodes_ignore");
extern char weft_f08_argv_null[1] __asm__("__mpi_f08_link_constants_MOD_mpi_argv_null");
extern char weft_f08_argvs_null[1] __asm__("__mpi_f08_link_constants_MOD_mpi_argvs_null");
}

namespace weft::fortran {

// The common commons of the program, by whichever of their names it has (mpipriv1_, mpipriv1, MPIPRIV1).
struct Commons {
  const weft_mpipriv1* priv1;
  const weft_mpipriv2* priv2;
  const weft_mpiprivc* privc;
  const MPI_Fint* unweighted;
  const MPI_Fint* weights_empty;
  const MPI_Fint* buffer_automatic;
};
extern const Commons commons;

template <typename H>
struct Convert {
  static H in(MPI_Fint value) { return value; }
  static MPI_Fint out(H handle) { return handle; }
};

template <>
struct Convert<MPI_File> {
  static MPI_File in(MPI_Fint value) { return MPI_File_f2c(value); }
  static MPI_Fint out(MPI_File handle) { return MPI_File_c2f(handle); }
};

inline void* buffer_in(const void* buffer) {
  if (buffer == &commons.priv1->bottom || buffer == &MPIR_F08_MPI_BOTTOM) return MPI_BOTTOM;
  if (buffer == &commons.priv1->in_place || buffer == &MPIR_F08_MPI_IN_PLACE) return MPI_IN_PLACE;
  if (buffer == commons.buffer_automatic || buffer == &weft_f08_buffer_automatic) return MPI_BUFFER_AUTOMATIC;
  return const_cast<void*>(buffer);
}

inline int* weights_in(const MPI_Fint* weights) {
  if (weights == commons.unweighted || weights == &weft_f08_unweighted) return MPI_UNWEIGHTED;
  if (weights == commons.weights_empty || weights == &weft_f08_weights_empty) return MPI_WEIGHTS_EMPTY;
  return const_cast<MPI_Fint*>(weights);
}

inline MPI_Status* status_in(const MPI_Fint* status) {
  const void* const ignored[] = {commons.priv1->status_ignore, commons.priv2->statuses_ignore,
                                 &MPIR_F08_MPI_STATUS_IGNORE_OBJ, MPIR_F08_MPI_STATUSES_IGNORE_OBJ};
  if (std::find(std::begin(ignored), std::end(ignored), status) != std::end(ignored)) return MPI_STATUS_IGNORE;
  return reinterpret_cast<MPI_Status*>(const_cast<MPI_Fint*>(status));
}

inline int* codes_in(MPI_Fint* codes) {
  return codes == commons.priv2->errcodes_ignore || codes == weft_f08_errcodes_ignore ? MPI_ERRCODES_IGNORE : codes;
}
inline bool is_argv_null(const char* argv) {
  return argv == commons.privc->argv_null || argv == weft_f08_argv_null;
}
inline bool is_argvs_null(const char* argvs) {
  return argvs == commons.privc->argvs_null || argvs == weft_f08_argvs_null;
}

// The key of a predefined attribute is C's and 1: an even number.
inline int keyval_in(MPI_Fint keyval) {
  const bool predefined =
      (keyval > MPI_TAG_UB && keyval <= MPI_APPNUM + 1) || (keyval > MPI_WIN_BASE && keyval <= MPI_WIN_MODEL + 1);
  return predefined && keyval % 2 == 0 ? keyval - 1 : keyval;
}

// The functions of a generalized request get the program's variable itself, as on MPICH: programs look at it
// afterwards.
inline constexpr bool gives_variable = true;

// The library of C tells programs where Fortran's MPI_STATUS_IGNORE is.
inline void before_init() {
  MPI_F_STATUS_IGNORE = const_cast<MPI_Fint*>(commons.priv1->status_ignore);
  MPI_F_STATUSES_IGNORE = const_cast<MPI_Fint*>(commons.priv2->statuses_ignore);
  MPI_F08_STATUS_IGNORE = &MPIR_F08_MPI_STATUS_IGNORE_OBJ;
  MPI_F08_STATUSES_IGNORE = MPIR_F08_MPI_STATUSES_IGNORE_OBJ;
}

}  // namespace weft::fortran
