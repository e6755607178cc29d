// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Processes and threads of this host, as the kernel numbers them.

#include <sys/types.h>

namespace weft::base {

// Returns the calling thread's number in the kernel, which is the process's for its main thread.
[[nodiscard]] pid_t kernel_thread();

// A descriptor of another process of this host as one of ours, if we may look into it; `process` stands for that
// process and becomes readable when it ends. -1 and errno: not possible.
[[nodiscard]] int open_process(int pid);
[[nodiscard]] int descriptor_of(int process, int descriptor);
// Sends it a signal, if it has not ended.
void signal_process(int process, int signal);

}  // namespace weft::base
