// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Expectations of values that must be exactly those of MPICH's ABI.

#include "expect.hpp"

// Of two integers; both are printed.
#define SAME(is, wanted)                                                                                       \
  do {                                                                                                         \
    const long long same_is = static_cast<long long>(is);                                                      \
    const long long same_wanted = static_cast<long long>(wanted);                                              \
    if (same_is != same_wanted) {                                                                              \
      expect::fail(__FILE__, __LINE__, #is, "%lld (0x%llx), not %lld (0x%llx)", same_is, same_is, same_wanted, \
                   same_wanted);                                                                               \
    }                                                                                                          \
  } while (0)

#define HOLDS(condition) EXPECT(condition, "does not hold")
