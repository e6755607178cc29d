// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What MPI remembers of a datatype beside its layout: how it was made, its name, its attributes. How it was made never
// changes; the rest is shared by threads.

#include <string>
#include <vector>

#include "mpi/object/object.hpp"

namespace weft::mpi {

struct TypeRecord {
  int combiner = MPI_COMBINER_NAMED;
  // The arguments of the constructor, as MPI_Type_get_contents orders them. A constructor of large counts has
  // large_counts where its narrow form has integers and addresses.
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Count> large_counts;
  std::vector<Type*> types;          // one reference each
  std::string name;                  // both under the lock `details`
  bool has_name = false;             // by MPI_Type_set_name
  Attributes* attributes = nullptr;  // under the lock of comm/attribute.cpp
};

// Every type that has a handle has a record, from the start.
[[nodiscard]] inline TypeRecord& record_of(const Type& type) {
  return *static_cast<TypeRecord*>(type.owner);
}

// Gives a new type to the program: remembers how it was made. The record's types get their references here. A nullptr
// `made` is the error of a layout that could not be made.
[[nodiscard]] int give_type(const char* function, Type* made, TypeRecord&& record, MPI_Datatype* newtype);

}  // namespace weft::mpi
