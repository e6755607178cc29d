// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The summary at the end of a run that WEFT_STATS asks for.

namespace weft::mpi {

// Whether WEFT_STATS is on.
[[nodiscard]] bool statistics_wanted();

// Collective over MPI_COMM_WORLD, called by MPI_Finalize while messages still work; rank 0 prints. Nothing without
// WEFT_STATS.
void print_statistics();

}  // namespace weft::mpi
