// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Splitting a communicator, also an intercommunicator, by colours that are not negative or MPI_UNDEFINED.

#include "mpi/object/object.hpp"

namespace weft::mpi {

// What MPI_Comm_split does, for checked arguments.
[[nodiscard]] int split(const char* function, Comm& parent, int64_t color, int32_t key, MPI_Comm* newcomm);

}  // namespace weft::mpi
