// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/thread/idle.hpp"

#include <atomic>

namespace weft::core {

constinit bool idle_is_timed = false;
constinit thread_local base::IdleClock* own_idle = nullptr;

namespace {

// The thread's own, which others read.
void set(uint64_t& word, uint64_t value) {
  std::atomic_ref(word).store(value, std::memory_order_relaxed);
}

void add_since(base::IdleClock& clock, uint64_t now) {
  if (clock.at != 0 && now > clock.at) set(clock.ticks, clock.ticks + (now - clock.at));
}

}  // namespace

void IdlePause::begin(bool follows) {
  if (own_idle == nullptr) return;
  const uint64_t now = base::ticks();
  if (follows) add_since(*own_idle, now);
  set(own_idle->at, now);
  set(own_idle->pausing, 1);
}

void IdlePause::end() {
  if (own_idle == nullptr) return;
  const uint64_t now = base::ticks();
  add_since(*own_idle, now);
  set(own_idle->at, now);
  set(own_idle->pausing, 0);
}

void IdleSleep::end(uint64_t from) {
  const uint64_t now = base::ticks();
  if (own_idle != nullptr && now > from) set(own_idle->asleep, own_idle->asleep + (now - from));
}

}  // namespace weft::core
