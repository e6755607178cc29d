// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Progress and waiting. Whoever waits makes progress: polls the transport, sends what found the way full, moves
// streams. Then it spins, yields the processor, and at last sleeps until a message comes. How long to spin follows from
// ranks per core.

#include "core/world.hpp"

namespace weft::core {

// One round of progress. Whether anything happened.
bool progress();

// What a wait does between two rounds in which nothing happened.
class Backoff {
 public:
  void something_happened() { rounds_ = 0; }

  // Spins, yields, or sleeps. Before sleeping `ready` is asked once more.
  template <class Ready>
  void pause(Ready&& ready) {
    if (++rounds_ <= spin_rounds) return relax();
    if (rounds_ <= spin_rounds + yield_rounds) return yield();
    arm();
    if (ready() || progress()) {
      disarm();
      rounds_ = 0;
    } else {
      sleep();
    }
  }

  // Settings turned into rounds, by start().
  static void tune(int ranks_here, int cpus_here);

 private:
  static void relax();
  static void yield();
  static void arm();
  static void disarm();
  static void sleep();

  static inline uint32_t spin_rounds = 2000;
  static inline uint32_t yield_rounds = 100;
  uint32_t rounds_ = 0;
};

// Makes progress until `ready` holds.
template <class Ready>
void wait_until(Ready&& ready) {
  Backoff backoff;
  while (!ready()) {
    if (progress()) {
      backoff.something_happened();
    } else {
      backoff.pause(ready);
    }
  }
}

inline void wait(Request& request) {
  if (is_done(request)) return;
  wait_until([&] { return is_done(request); });
}

}  // namespace weft::core
