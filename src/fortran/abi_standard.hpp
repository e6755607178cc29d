// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Fortran over the standard ABI: handles, the variables that stand for addresses, and what the runtime does for
// Fortran. abi_mpich.hpp is the same for MPICH's ABI.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "fortran/object_number.hpp"
#include "mpi/face.hpp"

// An INTEGER of Fortran: Weft's libraries for Fortran have no other.
static_assert(sizeof(MPI_Fint) == sizeof(int));

// The common blocks by whose addresses programs name what C has as constants.
extern "C" {
extern MPI_Fint weft_fortran_bottom_, weft_fortran_in_place_, weft_fortran_buffer_automatic_;
extern MPI_Fint weft_fortran_unweighted_[1], weft_fortran_weights_empty_[1];
extern MPI_Fint weft_fortran_status_ignore_[sizeof(MPI_Status) / sizeof(MPI_Fint)];
extern MPI_Fint weft_fortran_statuses_ignore_[sizeof(MPI_Status) / sizeof(MPI_Fint)];
extern MPI_Fint weft_fortran_errcodes_ignore_[1];
extern char weft_fortran_argv_null_[1], weft_fortran_argvs_null_[1];
}

namespace weft::fortran {

template <typename H>
struct Convert {
  static H in(MPI_Fint value) {
    const auto number = static_cast<uint32_t>(value);
    if (number < mpi::predefined_limit) return reinterpret_cast<H>(uintptr_t{number});
    return object_of<H>(number);
  }
  static MPI_Fint out(H handle) {
    const auto value = reinterpret_cast<uintptr_t>(handle);
    if (value < mpi::predefined_limit) return static_cast<MPI_Fint>(value);
    return static_cast<MPI_Fint>(number_of_object(value));
  }
};

inline void* buffer_in(const void* buffer) {
  if (buffer == &weft_fortran_bottom_) return MPI_BOTTOM;
  if (buffer == &weft_fortran_in_place_) return MPI_IN_PLACE;
  if (buffer == &weft_fortran_buffer_automatic_) return MPI_BUFFER_AUTOMATIC;
  return const_cast<void*>(buffer);
}

inline int* weights_in(const MPI_Fint* weights) {
  if (weights == weft_fortran_unweighted_) return MPI_UNWEIGHTED;
  if (weights == weft_fortran_weights_empty_) return MPI_WEIGHTS_EMPTY;
  return const_cast<MPI_Fint*>(weights);
}

// The status of Fortran has the layout of C's.
inline MPI_Status* status_in(const MPI_Fint* status) {
  if (status == weft_fortran_status_ignore_ || status == weft_fortran_statuses_ignore_) return MPI_STATUS_IGNORE;
  return reinterpret_cast<MPI_Status*>(const_cast<MPI_Fint*>(status));
}

inline int* codes_in(MPI_Fint* codes) {
  return codes == weft_fortran_errcodes_ignore_ ? MPI_ERRCODES_IGNORE : codes;
}
inline bool is_argv_null(const char* argv) {
  return argv == weft_fortran_argv_null_;
}
inline bool is_argvs_null(const char* argvs) {
  return argvs == weft_fortran_argvs_null_;
}

// The functions of a generalized request get a copy of its state: the program's variable may be gone.
inline constexpr bool gives_variable = false;

// How the runtime calls the functions of an object: with integers of Fortran.
void mark_errhandler(MPI_Errhandler errhandler);
void mark_op(MPI_Op op);

// Hooks of mpi/object/foreign.hpp.
[[gnu::cold]] inline int raise(const char* function, int error, const char* text) {
  return WEFT_FACE.hooks.raise(function, error, text);
}
inline datatype::Runs list_runs(MPI_Datatype type, MPI_Count count, MPI_Count position, iovec* runs, int room) {
  return WEFT_FACE.hooks.list_runs(type, count, position, runs, room);
}
using mpi::Around;
inline Around* surround(Around* around) {
  return WEFT_FACE.hooks.surround(around);
}
inline void before_init() {}

inline int keyval_in(MPI_Fint keyval) {
  return keyval;
}

}  // namespace weft::fortran
