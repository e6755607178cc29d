// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Something small that is done again and again, as long as there is need: work that must go on while the program
// computes. One thread of the process, its service thread, does it for all tickers; it is there while one has started,
// and sleeps while none has need.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

namespace weft::base {

class TickerThread;

class Ticker {
 public:
  // Calls `tick` each `period`, until it has returned false, "no need", `idle` times in a row; at least 1. It runs
  // beside all other threads: the state that calls for need() is read under a lock that both sides take, or is atomic
  // and in order. A tick is short, since other tickers wait for it, and does not end or start a ticker.
  Ticker(std::chrono::microseconds period, uint32_t idle, std::function<bool()> tick);
  // Waits for a call in progress. The last one to go ends the service thread.
  ~Ticker();
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

  // Makes the service thread, unless it is there. false: the system gives none. One thread at a time; again is no harm.
  bool start();
  // There is need from now on; after start(). Thread-safe; costs nothing while the ticker is awake.
  void need() {
    if (!awake_.load(std::memory_order_relaxed)) [[unlikely]]
      wake();
  }

 private:
  friend class TickerThread;
  using Clock = std::chrono::steady_clock;

  void wake();

  const std::chrono::microseconds period_;
  const uint32_t idle_;
  const std::function<bool()> tick_;
  std::atomic<bool> awake_ = false;
  bool started_ = false;
  // ---- under the service's lock
  bool sleeps_ = false;
  uint32_t calm_ = 0;  // ticks without need, in a row
  Clock::time_point next_;
};

}  // namespace weft::base
