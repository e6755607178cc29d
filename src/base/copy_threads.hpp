// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Threads of this process that take part in large copies: one thread moves less than the memory could give. They sleep
// until a copy is large enough (WEFT_COPY_THREADS, WEFT_COPY_THREADS_FROM), and each takes chunks while there are any;
// so does the thread that wants the copy, which waits for nobody that has taken none.
//
// One copy at a time has their help; others that come meanwhile are made by their own thread alone.

#include <cstddef>
#include <cstdint>

namespace weft::base {

// As memmove, which it is where the two overlap. Thread-safe.
void copy_by_threads(void* to, const void* from, size_t bytes);

// Ends the threads; a later copy makes them again. No copy may be going on.
void end_copy_threads();

// So many copies of this process have had help.
uint64_t helped_copies();

}  // namespace weft::base
