// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Threads outside of MPI that wait for other threads of their process: in a condition variable, a mutex, a join.

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "why/snapshot.hpp"

namespace weft::why {

// Where a thread is in the kernel, in a futex that no other process can wake and no time ends.
struct Futex {
  uint64_t stack = 0;  // the thread's stack pointer and instruction
  uint64_t instruction = 0;
};

// Nothing: the thread is elsewhere, or the system does not say (it asks for the rights of a debugger).
[[nodiscard]] std::optional<Futex> futex_of(pid_t pid, uint32_t thread);

// Whether the process has a handler for a signal that others send, or that a timer does: the handler may wake threads.
[[nodiscard]] bool has_handlers(pid_t pid);

// The function that waits, and the place in the program that called it; empty where they are not found.
[[nodiscard]] ThreadWait wait_of(pid_t pid, uint32_t thread, const Futex& futex);

}  // namespace weft::why
