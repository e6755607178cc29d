// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Fortran over Open MPI's ABI: small integers for predefined handles, whose C handles are addresses of symbols, and the
// numbers of objects above; a status is C's. All interfaces name constants by the same common blocks. abi_standard.hpp
// is the same for the standard ABI.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "fortran/object_number.hpp"
#include "fortran_numbers.hpp"

inline constexpr int weft_status_size = sizeof(MPI_Status) / sizeof(MPI_Fint);
static_assert(weft_status_size == 6);

// The common blocks of programs, of which the addresses alone count: integers of 8 bytes make the blocks larger.
extern "C" {
extern MPI_Fint mpi_fortran_bottom_, mpi_fortran_in_place_;
extern MPI_Fint mpi_fortran_unweighted_[1], mpi_fortran_weights_empty_[1], mpi_fortran_errcodes_ignore_[1];
extern MPI_Fint mpi_fortran_status_ignore_[weft_status_size], mpi_fortran_statuses_ignore_[weft_status_size];
extern char mpi_fortran_argv_null_[1], mpi_fortran_argvs_null_[1];
}

namespace weft::fortran {

inline constexpr int arena_bits = 36;  // of the addresses of objects

// The numbers of predefined handles, of which each kind has few.
template <typename H>
[[gnu::cold, gnu::noinline]] MPI_Fint number_of_predefined(H handle);

template <typename H>
struct Convert {
  static H in(MPI_Fint value) {
    const auto number = static_cast<uint32_t>(value);
    if (number < Predefined<H>::count) return reinterpret_cast<H>(Predefined<H>::handles[number]);
    // A small address is no handle either.
    if (number < first_number) [[unlikely]]
      return reinterpret_cast<H>(uintptr_t{number});
    return object_of<H>(number);
  }
  static MPI_Fint out(H handle) {
    const uintptr_t number = number_of_object(reinterpret_cast<uintptr_t>(handle));
    if (number >> (arena_bits - slot_shift) == 0) [[likely]]
      return static_cast<MPI_Fint>(number);
    return number_of_predefined(handle);
  }
};

inline void* buffer_in(const void* buffer) {
  if (buffer == &mpi_fortran_bottom_) return MPI_BOTTOM;
  if (buffer == &mpi_fortran_in_place_) return MPI_IN_PLACE;
  return const_cast<void*>(buffer);
}

inline int* weights_in(const MPI_Fint* weights) {
  if (weights == mpi_fortran_unweighted_) return MPI_UNWEIGHTED;
  if (weights == mpi_fortran_weights_empty_) return MPI_WEIGHTS_EMPTY;
  return const_cast<MPI_Fint*>(weights);
}

inline MPI_Status* status_in(const MPI_Fint* status) {
  if (status == mpi_fortran_status_ignore_ || status == mpi_fortran_statuses_ignore_) return MPI_STATUS_IGNORE;
  return reinterpret_cast<MPI_Status*>(const_cast<MPI_Fint*>(status));
}

inline int* codes_in(MPI_Fint* codes) {
  return codes == mpi_fortran_errcodes_ignore_ ? MPI_ERRCODES_IGNORE : codes;
}
inline bool is_argv_null(const char* argv) {
  return argv == mpi_fortran_argv_null_;
}
inline bool is_argvs_null(const char* argvs) {
  return argvs == mpi_fortran_argvs_null_;
}

inline int keyval_in(MPI_Fint keyval) {
  return keyval;
}

// The functions of a generalized request get the program's variable itself, as on Open MPI.
inline constexpr bool gives_variable = true;

// How the runtime calls the functions of an object that has been made: with integers of Fortran.
void mark_errhandler(void* errhandler);
void mark_op(void* op);

// The library of C tells programs where Fortran's MPI_STATUS_IGNORE is.
inline void before_init() {
  MPI_F_STATUS_IGNORE = mpi_fortran_status_ignore_;
  MPI_F_STATUSES_IGNORE = mpi_fortran_statuses_ignore_;
}

}  // namespace weft::fortran
