// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Statistics of calls from the start to the report (docs/explaining.md). All ranks of a job have the same WEFT_STATS.

namespace weft::mpi {

// Begins to count where WEFT_STATS asks for it, and to check calls where WEFT_CHECK does. The process has joined the
// job; under the lock of start and end.
void begin_observing();

// The report of MPI_Finalize: gathered along a tree at rank 0, which writes it. Collective.
void report_together();

// Counts and checks no more. The process is about to leave the job; under the lock of start and end.
void end_observing();

}  // namespace weft::mpi
