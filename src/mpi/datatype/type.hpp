// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Life of datatypes. They are counted: handles the program holds, derived types that MPI_Type_get_contents must name,
// and operations under way.

#include "mpi/object/object.hpp"

namespace weft::mpi {

inline Type* hold_type(Type* type) {
  if (!type->predefined) ++type->references;
  return type;
}

// Gives a reference back; with the last one the type is gone.
void release_type(Type* type);

// A type like this one, made the same way, with a handle of its own; nullptr when there is no memory.
[[nodiscard]] Type* twin(const Type& type);

// The layout that MPI_Type_create_darray made by these arguments, made of another element; nullptr when there is no
// memory.
[[nodiscard]] Type* darray_of(const TypeRecord& record, const Type& element);

// Gives a new type to the program: remembers how it was made. The record's types get their references here. A nullptr
// `made` is the error of a layout that could not be made.
[[nodiscard]] int give_type(const char* function, Type* made, TypeRecord&& record, MPI_Datatype* newtype);

}  // namespace weft::mpi
