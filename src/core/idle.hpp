// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The time that a thread's waits spend while progress finds nothing to do, for statistics: from the first such round
// on, with the pauses between them, to the round that moves something. Nothing is taken unless statistics ask for it.

#include <cstdint>

#include "base/ticks.hpp"

namespace weft::core {

struct Idle {
  uint64_t ticks = 0;  // in all
  uint64_t at = 0;     // the end of the last pause
};

[[gnu::visibility("hidden")]] extern constinit bool idle_is_timed;
[[gnu::tls_model("initial-exec"), gnu::visibility("hidden")]] extern constinit thread_local Idle own_idle;

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
  static void begin(bool follows) {
    const uint64_t now = base::ticks();
    if (follows && own_idle.at != 0) own_idle.ticks += now - own_idle.at;
    own_idle.at = now;
  }
  static void end() {
    const uint64_t now = base::ticks();
    if (own_idle.at != 0) own_idle.ticks += now - own_idle.at;
    own_idle.at = now;
  }
};

}  // namespace weft::core
