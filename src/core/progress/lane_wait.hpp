// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Waits for something that comes by one lane.

#include "core/progress/progress.hpp"
#include "core/progress/waiting.hpp"

namespace weft::core {

// Makes progress until `ready` holds, which something that comes by this lane brings about.
template <class Ready>
void wait_on(uint32_t lane, Ready&& ready) {
  Backoff backoff;
  // All rounds count: a lane that always has something must not keep the others, or our own messages, waiting.
  for (uint32_t round = 0; !ready(); ++round) {
    if (progress_on(lane, round)) {
      backoff.something_happened();
    } else {
      backoff.pause(ready);
    }
  }
}

}  // namespace weft::core
