// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Hints of files (MPI-5.0, 14.2.8).

#include "mpi/env/info.hpp"
#include "mpi/object/file.hpp"

namespace weft::mpi {

// Takes those of `info` (nullptr: none) that files know; the others, and values that mean nothing, are ignored.
void take_hints(File& file, const Info* info);

}  // namespace weft::mpi
