// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A thread that does something small again and again, as long as there is need, and sleeps otherwise: for work that
// must go on while the program computes.

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

namespace weft::base {

class Ticker {
 public:
  // Calls `tick` each `period`, until it has returned false, "no need", `idle` times in a row. It runs beside all other
  // threads: the state that calls for need() is read under a lock that both sides take, or is atomic and in order.
  Ticker(std::chrono::microseconds period, uint32_t idle, std::function<bool()> tick);
  // Waits for a call in progress.
  ~Ticker();

  // Makes the thread, which sleeps. false: the system gives none. One thread at a time; again is no harm.
  bool start();
  // There is need from now on; after start(). Thread-safe; costs nothing while the thread is awake.
  void need() {
    if (!awake_.load(std::memory_order_relaxed)) [[unlikely]]
      wake();
  }

 private:
  void wake();
  void run();

  const std::chrono::microseconds period_;
  const uint32_t idle_;
  const std::function<bool()> tick_;
  std::atomic<bool> awake_ = false;
  std::mutex mutex_;  // of the members below, and to wake the thread
  std::condition_variable changed_;
  bool over_ = false;
  bool made_ = false;
  pthread_t thread_{};
};

}  // namespace weft::base
