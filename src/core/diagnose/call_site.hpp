// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace weft::core {

// Where the program called this library: the address that the call returns to, and the stack pointer then. 0: not
// known.
struct CallSite {
  uint64_t address = 0;
  uint64_t stack = 0;
};

// Walks the stack, which takes a microsecond or more.
[[gnu::cold, gnu::noinline]] CallSite call_site();

}  // namespace weft::core
