// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Sizes, extents and addresses (MPI-5.0, 5.1.5 to 5.1.8). A value that an int cannot hold is MPI_UNDEFINED.

#include <climits>

#include "mpi/functions.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"

namespace weft::mpi {
namespace {

int narrow(int64_t value) {
  return value <= INT_MAX ? static_cast<int>(value) : MPI_UNDEFINED;
}

template <class Size>
int find_size(const char* function, MPI_Datatype datatype, Size* size) {
  const Type* type = type_of(datatype);
  if (type == nullptr) return bad_type(nullptr, function, datatype);
  if (no_address(size)) return null_argument(nullptr, function, "size");
  if constexpr (sizeof(Size) == sizeof(int)) {
    *size = narrow(type->size);
  } else {
    *size = type->size;
  }
  return MPI_SUCCESS;
}

template <class Size>
int find_extent(const char* function, MPI_Datatype datatype, Size* lb, Size* extent) {
  const Type* type = type_of(datatype);
  if (type == nullptr) return bad_type(nullptr, function, datatype);
  if (no_address(lb)) return null_argument(nullptr, function, "lb");
  if (no_address(extent)) return null_argument(nullptr, function, "extent");
  *lb = type->lower_bound;
  *extent = type->extent;
  return MPI_SUCCESS;
}

template <class Size>
int find_true_extent(const char* function, MPI_Datatype datatype, Size* lb, Size* extent) {
  const Type* type = type_of(datatype);
  if (type == nullptr) return bad_type(nullptr, function, datatype);
  if (no_address(lb)) return null_argument(nullptr, function, "true_lb");
  if (no_address(extent)) return null_argument(nullptr, function, "true_extent");
  *lb = type->true_lower_bound;
  *extent = type->true_extent;
  return MPI_SUCCESS;
}

}  // namespace

int type_size(MPI_Datatype datatype, int* size) {
  return find_size("MPI_Type_size", datatype, size);
}
int type_size_c(MPI_Datatype datatype, MPI_Count* size) {
  return find_size("MPI_Type_size_c", datatype, size);
}
int type_size_x(MPI_Datatype datatype, MPI_Count* size) {
  return find_size("MPI_Type_size_x", datatype, size);
}

int type_get_extent(MPI_Datatype datatype, MPI_Aint* lb, MPI_Aint* extent) {
  return find_extent("MPI_Type_get_extent", datatype, lb, extent);
}
int type_get_extent_c(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
  return find_extent("MPI_Type_get_extent_c", datatype, lb, extent);
}
int type_get_extent_x(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
  return find_extent("MPI_Type_get_extent_x", datatype, lb, extent);
}

int type_get_true_extent(MPI_Datatype datatype, MPI_Aint* true_lb, MPI_Aint* true_extent) {
  return find_true_extent("MPI_Type_get_true_extent", datatype, true_lb, true_extent);
}
int type_get_true_extent_c(MPI_Datatype datatype, MPI_Count* true_lb, MPI_Count* true_extent) {
  return find_true_extent("MPI_Type_get_true_extent_c", datatype, true_lb, true_extent);
}
int type_get_true_extent_x(MPI_Datatype datatype, MPI_Count* true_lb, MPI_Count* true_extent) {
  return find_true_extent("MPI_Type_get_true_extent_x", datatype, true_lb, true_extent);
}

int get_address(const void* location, MPI_Aint* address) {
  if (no_address(address)) return null_argument(nullptr, "MPI_Get_address", "address");
  *address = reinterpret_cast<MPI_Aint>(location);
  return MPI_SUCCESS;
}

// Addresses are added and subtracted like pointers to char, but as unsigned integers, whose overflow is defined.
MPI_Aint aint_add(MPI_Aint base, MPI_Aint disp) {
  return static_cast<MPI_Aint>(static_cast<uintptr_t>(base) + static_cast<uintptr_t>(disp));
}

MPI_Aint aint_diff(MPI_Aint addr1, MPI_Aint addr2) {
  return static_cast<MPI_Aint>(static_cast<uintptr_t>(addr1) - static_cast<uintptr_t>(addr2));
}

}  // namespace weft::mpi
