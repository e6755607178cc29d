// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The check of WEFT_CHECK=threads. Below MPI_THREAD_MULTIPLE the library takes no locks, so threads that call it at the
// same time spoil messages in silence. The check ends the job at the first such call. It runs in the functions of
// `observed_calls`, which stand in the table of calls while it is wanted.

#include <sys/types.h>

#include "stats/calls.hpp"

namespace weft::mpi {

// Calls are observed for the check too.
[[gnu::visibility("hidden")]] extern constinit bool checks_calls;

// Whether WEFT_CHECK asks for it and the process has joined the job below MPI_THREAD_MULTIPLE.
[[nodiscard]] bool wants_thread_check();

// Calls are checked from here on, where that is wanted. `level` is the name of the level of threads. `main_thread`
// is the id of the only thread that may call; 0: threads take turns.
void begin_thread_check(const char* level, pid_t main_thread);

// The begin and the end of a call, which may be inside another one of the same thread: of a callback.
void enter_call(stats::Call call);
void leave_call(stats::Call call);

}  // namespace weft::mpi
