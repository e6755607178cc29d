// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A thread that makes progress while the program computes (WEFT_PROGRESS): it answers rendezvous, moves their data,
// goes on with nonblocking collective operations and performs the window operations of other ranks. It sleeps until a
// message comes, and naps while threads of the program take the messages themselves (core/progress/waiting.hpp). The
// thread level that the program asked for stays as it is, but inside locks are taken as at MPI_THREAD_MULTIPLE.

namespace weft::core {

// Whether the settings ask for one in a job with so many ranks and processors on this host.
[[nodiscard]] bool wants_progress_thread(int ranks_here, int cpus_here);

// Between start() and stop() of a world that is `concurrent`.
void start_progress_thread();
// Returns when the thread has ended; again is no harm.
void end_progress_thread();

}  // namespace weft::core
