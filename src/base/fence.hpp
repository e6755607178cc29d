// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A fence that others need not run themselves. One side of a handshake (store mine, load yours) that is taken rarely
// calls fence_others() between its store and its load; the other side, which is taken often, has none.

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace weft::base {

// Lets processes that have called this fence each other. False: the kernel does not offer it. Thread-safe.
[[nodiscard]] inline bool allow_fences() {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

// Runs a full fence on every processor that runs a thread of a process that has called allow_fences(). Microseconds.
inline void fence_others() {
  syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}

}  // namespace weft::base
