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

}  // namespace weft::mpi
