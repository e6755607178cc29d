/* SPDX-FileCopyrightText: 2026 the Weft authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fortran/buffer.h"

/* The first `count` elements of the dimensions 0 to `dimension`, in the order of the array's elements. */
static int first_elements(const Section* section, int dimension, MPI_Aint count, MPI_Datatype type,
                          MPI_Datatype* made) {
  const ptrdiff_t stride = section->dimensions[dimension].stride;
  if (dimension == 0) return MPI_Type_create_hvector_c(count, 1, stride, type, made);
  MPI_Aint inner = 1;
  for (int i = 0; i < dimension; i++) inner *= section->dimensions[i].extent;
  MPI_Datatype parts[2], slice;
  int result = first_elements(section, dimension - 1, inner, type, &slice);
  if (result != MPI_SUCCESS) return result;
  result = MPI_Type_create_hvector_c(count / inner, 1, stride, slice, &parts[0]);
  MPI_Type_free(&slice);
  if (result != MPI_SUCCESS) return result;
  result = first_elements(section, dimension - 1, count % inner, type, &parts[1]);
  if (result == MPI_SUCCESS) {
    const MPI_Count lengths[2] = {1, 1}, places[2] = {0, count / inner * stride};
    result = MPI_Type_create_struct_c(2, lengths, places, parts, made);
    MPI_Type_free(&parts[1]);
  }
  MPI_Type_free(&parts[0]);
  return result;
}

Buffer weft_fortran_scattered(const Section* section, int count, MPI_Datatype type) {
  const Buffer wrong = {section->address, count, MPI_DATATYPE_NULL, 0};
  MPI_Count lower, extent, size, elements = 1;
  for (int i = 0; i < section->rank; i++) elements *= section->dimensions[i].extent;
  if (count == 0) return (Buffer){section->address, 0, type, 0};
  if (type == MPI_DATATYPE_NULL || count < 0 || count > elements) return wrong;
  if (MPI_Type_get_extent_c(type, &lower, &extent) != MPI_SUCCESS || MPI_Type_size_c(type, &size) != MPI_SUCCESS)
    return wrong;
  /* A datatype of several elements would reach over the gaps. */
  if (extent != size || (size_t)extent != section->element) return wrong;
  Buffer made = {section->address, 1, MPI_DATATYPE_NULL, 1};
  if (first_elements(section, section->rank - 1, count, type, &made.type) != MPI_SUCCESS) return wrong;
  if (MPI_Type_commit(&made.type) == MPI_SUCCESS) return made;
  MPI_Type_free(&made.type);
  return wrong;
}
