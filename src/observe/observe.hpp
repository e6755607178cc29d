// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Statistics of calls from the start to the report (docs/explaining.md). All ranks of a job have the same WEFT_STATS.

#include "core/comm.hpp"

namespace weft::observe {

// Begins to count where WEFT_STATS asks for it. The process has joined the job; under the lock of start and end. True:
// calls are to be counted.
[[nodiscard]] bool begin();

// The report of the job, or its counters: gathered at rank 0 of `world`, which has all ranks, and written there.
// Collective.
void report(core::Comm& world);

// Counts no more. The process is about to leave the job; under the lock of start and end.
void end();

}  // namespace weft::observe
