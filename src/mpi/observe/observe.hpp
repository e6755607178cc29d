// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The functions behind the entry points while statistics or the check of threads want them (src/observe,
// thread_check.hpp). Both are called under the lock of start and end.

namespace weft::mpi {

// Begins to count where WEFT_STATS asks for it, and to check calls where WEFT_CHECK does. The process has joined the
// job.
void begin_observing();

// Counts and checks no more. The process is about to leave the job.
void end_observing();

}  // namespace weft::mpi
