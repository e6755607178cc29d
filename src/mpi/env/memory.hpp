// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What functions that allocate memory for the program share.

#include "mpi/env/error.hpp"
#include "mpi/env/info.hpp"

namespace weft::mpi {

// The hint mpi_minimum_memory_alignment (MPI-5.0, 9.2): bytes, a power of two; 1 when it is not given. Pages are what
// is handed out in any case. Raises the error of a value that is none.
[[nodiscard]] int read_alignment(const char* function, ErrorsOn on, const Info* info, size_t& alignment);

}  // namespace weft::mpi
