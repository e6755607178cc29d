// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Expectations of values that must be exactly those of the program's ABI.

#include "expect.hpp"

namespace same {

// A handle or an integer as a number.
template <class T>
long long number(T value) {
  return static_cast<long long>(value);
}
template <class T>
long long number(T* value) {
  return reinterpret_cast<long long>(value);
}

// The fields of a status that only libraries read.
#if defined(OPEN_MPI)
inline long long bytes_of(const MPI_Status& status) {
  return static_cast<long long>(status._ucount);
}
inline bool is_cancelled(const MPI_Status& status) {
  return status._cancelled != 0;
}
#elif defined(MPICH_NAME)
inline long long bytes_of(const MPI_Status& status) {
  return static_cast<long long>(status.count_hi_and_cancelled >> 1) << 32 | static_cast<unsigned>(status.count_lo);
}
inline bool is_cancelled(const MPI_Status& status) {
  return (status.count_hi_and_cancelled & 1) != 0;
}
#endif

}  // namespace same

// It compares two integers or handles; both are printed.
#define SAME(is, wanted)                                                                                       \
  do {                                                                                                         \
    const long long same_is = same::number(is);                                                                \
    const long long same_wanted = same::number(wanted);                                                        \
    if (same_is != same_wanted) {                                                                              \
      expect::fail(__FILE__, __LINE__, #is, "%lld (0x%llx), not %lld (0x%llx)", same_is, same_is, same_wanted, \
                   same_wanted);                                                                               \
    }                                                                                                          \
  } while (0)

#define HOLDS(condition) EXPECT(condition, "does not hold")
