// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// This rank's area of counters, and the block in it that a thread counts in.

#include <atomic>
#include <cstdint>

#include "base/descriptor.hpp"
#include "core/thread/thread.hpp"
#include "stats/area.hpp"

namespace weft::observe {

// The thread's last collective operation with a root.
struct Turn {
  stats::Call call{};
  uint32_t context = 0;
  int32_t root = -1;
  uint64_t ended = 0;
};

struct Observer {
  stats::CounterBlock* block = nullptr;
  bool shared = false;
  uint32_t depth = 0;  // calls inside calls: of callbacks
  base::IdleClock* clock = nullptr;
  base::IdleClock own_clock;  // of a thread that shares its block
  Turn turn;
};
[[gnu::tls_model("initial-exec"), gnu::visibility("hidden")]] extern constinit thread_local Observer own_observer;

// The area; nullptr before it is mapped. It stays for the life of the process: a call may be under way at the end.
struct Observation {
  stats::Area* area = nullptr;
  base::Descriptor file;
  int place = 0;
  bool detailed = false;       // WEFT_STATS=calls and full
  bool sites = false;          // full
  bool inherited = false;      // the file is mpiexec's
  uint64_t prompt_ticks = 0;   // a call that waits less has hardly waited
  uint64_t refresh_ticks = 0;  // between copies of the runtime's counts, and samples for the timeline
  std::atomic<bool> refreshes{false};
};
extern constinit Observation observation;

// Makes the calling thread's block.
[[gnu::cold, gnu::noinline]] void enter_block();

// Copies the runtime's own counts into the area, and takes a sample for the timeline, at the end of `call`.
[[gnu::cold, gnu::noinline]] void refresh(uint64_t now, const stats::LongCall& call);

// Counters have one writer, or are shared; readers find any aligned word whole.
template <bool shared>
inline void add(uint64_t& counter, uint64_t more) {
  if constexpr (shared) {
    std::atomic_ref(counter).fetch_add(more, std::memory_order_relaxed);
  } else {
    core::count(counter, more);
  }
}

}  // namespace weft::observe
