// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The processor's own counter of time, for spans that are taken at every call: a few nanoseconds where a clock of the
// system takes twenty. One counter for all processors of a host; its rate follows from two readings beside a clock.

#include <cstdint>

#include "base/clock.hpp"

namespace weft::base {

inline uint64_t ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  return now_ns();
#endif
}

// Idle time of a thread, which adds it up itself: the sum, the time it was taken, and whether the thread is idle since.
struct IdleClock {
  uint64_t ticks = 0;
  uint64_t at = 0;
  uint64_t pausing = 0;  // 1: in a pause that began at `at`
  uint64_t asleep = 0;   // of the idle time
};

// A moment by both clocks.
struct Moment {
  uint64_t ticks = 0;
  uint64_t ns = 0;
};
inline Moment this_moment() {
  return {ticks(), now_ns()};
}

// Seconds of a tick, from two moments.
inline double seconds_of_tick(const Moment& from, const Moment& to) {
  if (to.ticks <= from.ticks || to.ns <= from.ns) return 0;
  return static_cast<double>(to.ns - from.ns) * 1e-9 / static_cast<double>(to.ticks - from.ticks);
}

}  // namespace weft::base
