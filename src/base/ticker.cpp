// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/ticker.hpp"

#include <csignal>
#include <utility>

namespace weft::base {

Ticker::Ticker(std::chrono::microseconds period, uint32_t idle, std::function<bool()> tick)
    : period_(period), idle_(idle), tick_(std::move(tick)) {}

Ticker::~Ticker() {
  if (!made_) return;
  {
    const std::lock_guard guard(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  pthread_join(thread_, nullptr);
}

// The program's signals are not for this thread.
bool Ticker::start() {
  if (made_) return true;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const auto body = [](void* ticker) -> void* {
    static_cast<Ticker*>(ticker)->run();
    return nullptr;
  };
  made_ = pthread_create(&thread_, nullptr, body, this) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (made_) pthread_setname_np(thread_, "weft-ticker");
  return made_;
}

void Ticker::wake() {
  {
    const std::lock_guard guard(mutex_);
    awake_.store(true, std::memory_order_relaxed);
  }
  changed_.notify_one();
}

void Ticker::run() {
  std::unique_lock lock(mutex_);
  for (uint32_t calm = 0; !over_;) {
    if (calm == idle_) {
      awake_.store(false, std::memory_order_relaxed);
    } else {
      changed_.wait_for(lock, period_, [this] { return over_; });
      if (over_) return;
    }
    lock.unlock();
    const bool needed = tick_();  // once more after announcing the sleep: a later start wakes it
    lock.lock();
    if (needed) {
      calm = 0;
      awake_.store(true, std::memory_order_relaxed);
    } else if (calm < idle_) {
      ++calm;
    } else {
      changed_.wait(lock, [this] { return over_ || awake_.load(std::memory_order_relaxed); });
      calm = 0;
    }
  }
}

}  // namespace weft::base
