// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Statistics of calls from the start to the report (docs/design/statistics.md). All ranks of a job have the same
// WEFT_STATS. The models that a program uses, MPI and OpenSHMEM, share them: there is one report, when the last model
// ends that all ranks have started.

#include "core/object/comm.hpp"

namespace weft::observe {

// The process uses a model, and has joined the job. Begins to count where WEFT_STATS asks for it. True: calls are to be
// counted.
[[nodiscard]] bool begin();

// All ranks have started a model: MPI with its world, not sessions alone. They end it by report().
void start_together();

// If no other such model is in use, the report of the job, or its counters, are gathered at rank 0 of `world`, which
// has all ranks, and written there. Collective.
void report(core::Comm& world);

// The process uses the model no more. After the last one nothing is counted.
void end();

}  // namespace weft::observe
