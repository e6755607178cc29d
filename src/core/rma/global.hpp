// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// One-sided operations with WEFT_THREAD_DESIGN=global: one at a time, under the lock that all sends and receives of the
// process take then, so that the designs can be compared. The other designs take no lock here.

#include <optional>

#include "core/lane/lane.hpp"
#include "core/thread/thread.hpp"

namespace weft::core::rma {

inline bool takes_global_lock() {
  return threads->multiple && threads->design == Design::global;
}

// No progress is made while it is held: the lock is lane 0's.
class GlobalGuard {
 public:
  GlobalGuard() {
    if (takes_global_lock()) [[unlikely]]
      guard_.emplace(lanes->all[0]);
  }
  void release() { guard_.reset(); }

 private:
  std::optional<LaneGuard> guard_;
};

}  // namespace weft::core::rma
