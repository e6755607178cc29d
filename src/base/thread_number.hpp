// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Small numbers for the threads of a process. Modulo the number of some resources, such as lanes, they deal these out
// to threads so that none is shared while others are free.

#include <cstdint>

namespace weft::base {

// The number of the calling thread: the smallest one that no other thread had at its first call. A thread that ends
// gives its number back. Where 64 threads have one, further threads get larger numbers, each once.
[[nodiscard]] uint32_t thread_number();

}  // namespace weft::base
