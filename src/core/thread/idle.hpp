// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The time that a thread's waits spend while progress finds nothing to do, for statistics: from the first such round
// on, with the pauses between them, to the round that moves something. Nothing is taken unless statistics ask for it.

#include "base/ticks.hpp"

namespace weft::core {

[[gnu::visibility("hidden")]] extern constinit bool idle_is_timed;
// Where the calling thread's idle time is added up; nullptr: nowhere.
[[gnu::tls_model("initial-exec"), gnu::visibility("hidden")]] extern constinit thread_local base::IdleClock* own_idle;

// One pause of a wait. `follows`: the round before it found nothing either, so the time between the two is idle too.
class IdlePause {
 public:
  explicit IdlePause(bool follows) {
    if (idle_is_timed) [[unlikely]]
      begin(follows);
  }
  ~IdlePause() {
    if (idle_is_timed) [[unlikely]]
      end();
  }
  IdlePause(const IdlePause&) = delete;
  IdlePause& operator=(const IdlePause&) = delete;

 private:
  [[gnu::cold, gnu::noinline]] static void begin(bool follows);
  [[gnu::cold, gnu::noinline]] static void end();
};

// The part of a pause in which the thread sleeps.
class IdleSleep {
 public:
  IdleSleep() : from_(idle_is_timed ? base::ticks() : 0) {}
  ~IdleSleep() {
    if (from_ != 0) end(from_);
  }
  IdleSleep(const IdleSleep&) = delete;
  IdleSleep& operator=(const IdleSleep&) = delete;

 private:
  [[gnu::cold, gnu::noinline]] static void end(uint64_t from);

  const uint64_t from_;
};

}  // namespace weft::core
