// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Hints of files (MPI-5.0, 14.2.8).

#include "mpi/env/info.hpp"
#include "mpi/object/file.hpp"

namespace weft::mpi {

// Takes those of `info` (nullptr: none) that files know; the others, and values that mean nothing, are ignored. `comm`
// is the file's communicator, or the one that it gets its own from.
void take_hints(File& file, const Comm& comm, const Info* info);

}  // namespace weft::mpi
