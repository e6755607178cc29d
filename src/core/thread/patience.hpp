// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// How long a thread polls before it yields, where threads outnumber the cores. If the thread that it waits for runs on
// another core, news come within a microsecond and a yield would only part the two; if that thread waits for this core,
// every poll is lost. Waits tell which: each thread judges by its own. docs/design/threads.md, "Waiting".

#include <cstdint>

namespace weft::core {

class Patience {
 public:
  // Polls. A round trip to another core takes 8 of them between near cores and 50 between far ones.
  static constexpr uint32_t most = 100;
  static constexpr uint32_t least = 4;

  // The polls of the next wait. Once waits have polled in vain, most do so no more, and some find out.
  uint32_t next() {
    if (!in_vain_ && polls_ > least) waits_in_vain_ = 0;
    in_vain_ = false;
    polls_ = 0;
    return waits_in_vain_ < enough || ++turn_ % trial_every == 0 ? most : least;
  }

  // The wait has polled so often.
  void polled(uint32_t polls) { polls_ = polls; }

  // The wait has polled in vain and yields.
  void yields() {
    in_vain_ = true;
    if (waits_in_vain_ < enough) ++waits_in_vain_;
  }

 private:
  static constexpr uint32_t enough = 4;
  static constexpr uint32_t trial_every = 16;

  uint32_t waits_in_vain_ = 0;  // one after the other
  uint32_t turn_ = 0;
  uint32_t polls_ = 0;    // of the last wait
  bool in_vain_ = false;  // these
};

}  // namespace weft::core
