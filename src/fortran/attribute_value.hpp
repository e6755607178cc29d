// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Values of attributes in two languages (MPI-5.0, 19.3.7). C gets a pointer to the integer that Fortran has set, and
// Fortran gets the address that C has set. The integers that Fortran sets lie in memory of their own, so that a pointer
// tells by its address which language has set it. One under a key of Fortran is dropped with the attribute; one under a
// key of C stays until the process ends, since a copy function of C may have given its address to other objects.
#pragma once

#include "fortran/convert.hpp"

namespace weft::fortran {

// nullptr: no memory.
[[nodiscard]] void* attribute_of(MPI_Aint value);
[[nodiscard]] MPI_Aint value_of(const void* attribute);
[[nodiscard]] bool set_by_fortran(const void* attribute);
void drop(void* attribute);  // nothing where C has set it

}  // namespace weft::fortran
