// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// How long a thread polls before it yields, where threads outnumber the cores. If the thread that it waits for runs on
// another core, news come within a microsecond and a yield would only part the two; if that thread waits for this core,
// every poll is lost. Waits tell which: each thread judges by its own. docs/threads.md, "Waiting".

#include <cstdint>

namespace weft::core {

class Patience {
 public:
  // Polls. A round trip to another core takes 8 of them between near cores and 50 between far ones.
  static constexpr uint32_t most = 100;
  static constexpr uint32_t least = 4;

  // The polls of the next wait. Once waits have polled in vain, most do so no more, and some find out.
  uint32_t next() { return in_vain_ < enough || ++turn_ % trial_every == 0 ? most : least; }

  // News came after so many polls.
  void paid(uint32_t polls) {
    if (polls > least) in_vain_ = 0;
  }

  // A wait has polled and must yield.
  void failed() {
    if (in_vain_ < enough) ++in_vain_;
  }

 private:
  static constexpr uint32_t enough = 4;
  static constexpr uint32_t trial_every = 16;

  uint32_t in_vain_ = 0;  // waits one after the other
  uint32_t turn_ = 0;
};

}  // namespace weft::core
