// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/lane/lane.hpp"

namespace weft::core {

LaneGuard::LaneGuard(Lane& lane) : lane_(lane) {
  if (!threads->concurrent) return;
  thread_ = &hot_thread();
  lane_.enter();
  ++thread_->lanes_held;
}

LaneGuard::LaneGuard(Lane& lane, TryTag) : lane_(lane) {
  if (!threads->concurrent) return;
  thread_ = &hot_thread();
  held_ = lane_.lock.try_lock();
  if (held_) ++thread_->lanes_held;
}

void LaneGuard::release() {
  if (!held_) return;
  held_ = false;
  if (thread_ == nullptr) return;
  const bool unsettled = lane_.matcher.unsettled();
  lane_.lock.unlock();
  if (--thread_->lanes_held != 0) return;
  if (thread_->ended != nullptr) [[unlikely]]
    thread_->run_ended();
  if (unsettled) [[unlikely]]
    settle();
}

AllLanesGuard::AllLanesGuard() {
  if (!threads->concurrent) return;
  for (uint32_t i = 0; i < lanes->map.lanes(); ++i) lanes->all[i].enter();
  hot_thread().lanes_held += static_cast<int32_t>(lanes->map.lanes());
}

AllLanesGuard::~AllLanesGuard() {
  if (!threads->concurrent) return;
  for (uint32_t i = lanes->map.lanes(); i-- > 0;) lanes->all[i].lock.unlock();
  Thread& me = hot_thread();
  me.lanes_held -= static_cast<int32_t>(lanes->map.lanes());
  if (me.lanes_held == 0) me.run_ended();
}

int64_t Lanes::sends_open() const {
  int64_t open = 0;
  for (uint32_t i = 0; i < map.lanes(); ++i) open += all[i].sends_open.load(std::memory_order_relaxed);
  return open;
}

bool Lanes::receives_streams() {
  for (uint32_t i = 0; i < map.lanes(); ++i) {
    const LaneGuard guard(all[i]);
    if (streams_into_receives(all[i])) return true;
  }
  return false;
}

}  // namespace weft::core
