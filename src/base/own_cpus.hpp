// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The processors of this process, and those of the threads that the library starts itself (copies, progress, repeats).
// An affinity mask tells less: an OpenMP runtime that binds its threads (OMP_PROC_BIND) binds the program's first one
// before main(), and the threads that this one makes inherit its one processor.

#include "base/cpus.hpp"

namespace weft::base {

// Takes what a launcher has given: `own` to the process, `service` to the library's threads; empty: not said. At the
// start, before there are such threads.
void set_own_cpus(const CpuSet& own, const CpuSet& service);

// The processors of the process: the mask of the calling thread; where OpenMP has bound that, the set that the launcher
// gave.
CpuSet own_cpus();
// The processors of the library's threads; empty where they have none of their own.
CpuSet service_cpus();

// Each thread of the library calls this first: it moves to the service processors, or to those of the process. A thread
// that the system does not let move stays.
void enter_service_cpus();

}  // namespace weft::base
