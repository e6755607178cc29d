// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Values that a program attaches to communicators, datatypes and windows under keys (MPI-5.0, 7.7).

#include "mpi/object/object.hpp"

namespace weft::mpi {

// Runs the delete callbacks, the value set last first, and forgets the values. The first error ends it.
[[nodiscard]] int delete_attributes(Comm& comm);
[[nodiscard]] int delete_attributes(Type& type);
[[nodiscard]] int delete_attributes(Win& win);

// Runs the copy callbacks of a duplication. The first error ends it; attributes copied by then are in `to`.
[[nodiscard]] int copy_attributes(Comm& from, Comm& to);
[[nodiscard]] int copy_attributes(Type& from, Type& to);

}  // namespace weft::mpi
