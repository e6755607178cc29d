// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Procedures that MPI-3.0 removed (16.1) and programs of mpif.h still call: their addresses are INTEGER. An address
// that an INTEGER does not hold is an error, rather than another address.

#include <climits>
#include <vector>

#include "fortran/convert.hpp"

namespace weft::fortran {
namespace {

bool narrow(MPI_Aint value, MPI_Fint* result) {
  if (value < INT_MIN || value > INT_MAX) return false;
  *result = static_cast<MPI_Fint>(value);
  return true;
}

std::vector<MPI_Aint> wide(const MPI_Fint* values, MPI_Fint count) {
  return {values, values + std::max(count, 0)};
}

std::vector<MPI_Datatype> types(const MPI_Fint* values, MPI_Fint count) {
  std::vector<MPI_Datatype> result;
  result.reserve(static_cast<size_t>(std::max(count, 0)));
  for (MPI_Fint i = 0; i < count; ++i) result.push_back(Convert<MPI_Datatype>::in(values[i]));
  return result;
}

}  // namespace

// Each procedure under both of its names.
#define WEFT_BOTH(procedure) procedure(mpi, MPI) procedure(pmpi, PMPI)
#define WEFT_PROCEDURE extern "C" __attribute__((visibility("default"))) void

#define WEFT_REMOVED(p, P)                                                                                            \
  WEFT_PROCEDURE p##_address_(void* location, MPI_Fint* address, MPI_Fint* ierror) {                                  \
    MPI_Aint value = 0;                                                                                               \
    *ierror = P##_Get_address(buffer_in(location), &value);                                                           \
    if (*ierror == MPI_SUCCESS && !narrow(value, address)) *ierror = MPI_ERR_ARG;                                     \
  }                                                                                                                   \
  WEFT_PROCEDURE p##_type_extent_(const MPI_Fint* datatype, MPI_Fint* extent, MPI_Fint* ierror) {                     \
    MPI_Aint low = 0;                                                                                                 \
    MPI_Aint value = 0;                                                                                               \
    *ierror = P##_Type_get_extent(Convert<MPI_Datatype>::in(*datatype), &low, &value);                                \
    if (*ierror == MPI_SUCCESS && !narrow(value, extent)) *ierror = MPI_ERR_TYPE;                                     \
  }                                                                                                                   \
  WEFT_PROCEDURE p##_type_lb_(const MPI_Fint* datatype, MPI_Fint* displacement, MPI_Fint* ierror) {                   \
    MPI_Aint low = 0;                                                                                                 \
    MPI_Aint extent = 0;                                                                                              \
    *ierror = P##_Type_get_extent(Convert<MPI_Datatype>::in(*datatype), &low, &extent);                               \
    if (*ierror == MPI_SUCCESS && !narrow(low, displacement)) *ierror = MPI_ERR_TYPE;                                 \
  }                                                                                                                   \
  WEFT_PROCEDURE p##_type_ub_(const MPI_Fint* datatype, MPI_Fint* displacement, MPI_Fint* ierror) {                   \
    MPI_Aint low = 0;                                                                                                 \
    MPI_Aint extent = 0;                                                                                              \
    *ierror = P##_Type_get_extent(Convert<MPI_Datatype>::in(*datatype), &low, &extent);                               \
    if (*ierror == MPI_SUCCESS && !narrow(low + extent, displacement)) *ierror = MPI_ERR_TYPE;                        \
  }                                                                                                                   \
  WEFT_PROCEDURE p##_type_hvector_(const MPI_Fint* count, const MPI_Fint* blocklength, const MPI_Fint* stride,        \
                                   const MPI_Fint* oldtype, MPI_Fint* newtype, MPI_Fint* ierror) {                    \
    *ierror = P##_Type_create_hvector(*count, *blocklength, *stride, Convert<MPI_Datatype>::in(*oldtype),             \
                                      Out<MPI_Datatype>(newtype));                                                    \
  }                                                                                                                   \
  WEFT_PROCEDURE p##_type_hindexed_(const MPI_Fint* count, const MPI_Fint* blocklengths,                              \
                                    const MPI_Fint* displacements, const MPI_Fint* oldtype, MPI_Fint* newtype,        \
                                    MPI_Fint* ierror) {                                                               \
    *ierror = P##_Type_create_hindexed(*count, blocklengths, wide(displacements, *count).data(),                      \
                                       Convert<MPI_Datatype>::in(*oldtype), Out<MPI_Datatype>(newtype));              \
  }                                                                                                                   \
  WEFT_PROCEDURE p##_type_struct_(const MPI_Fint* count, const MPI_Fint* blocklengths, const MPI_Fint* displacements, \
                                  const MPI_Fint* oldtypes, MPI_Fint* newtype, MPI_Fint* ierror) {                    \
    *ierror = P##_Type_create_struct(*count, blocklengths, wide(displacements, *count).data(),                        \
                                     types(oldtypes, *count).data(), Out<MPI_Datatype>(newtype));                     \
  }                                                                                                                   \
  WEFT_PROCEDURE p##_errhandler_get_(const MPI_Fint* comm, MPI_Fint* errhandler, MPI_Fint* ierror) {                  \
    *ierror = P##_Comm_get_errhandler(Convert<MPI_Comm>::in(*comm), Out<MPI_Errhandler>(errhandler));                 \
  }                                                                                                                   \
  WEFT_PROCEDURE p##_errhandler_set_(const MPI_Fint* comm, const MPI_Fint* errhandler, MPI_Fint* ierror) {            \
    *ierror = P##_Comm_set_errhandler(Convert<MPI_Comm>::in(*comm), Convert<MPI_Errhandler>::in(*errhandler));        \
  }
WEFT_BOTH(WEFT_REMOVED)

}  // namespace weft::fortran
