// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/ticker.hpp"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <utility>
#include <vector>

#include "base/own_cpus.hpp"

namespace weft::base {

// The thread and its tickers.
class TickerThread {
 public:
  // Never destroyed: a ticker may outlive static objects.
  static TickerThread& get() {
    static TickerThread& only = *new TickerThread;
    return only;
  }

  bool add(Ticker& ticker) {
    const std::lock_guard one(coming_and_going_);
    const std::lock_guard guard(lock_);
    if (tickers_.empty() && !make_thread()) return false;
    ticker.next_ = Ticker::Clock::now() + ticker.period_;
    tickers_.push_back(&ticker);
    changed_.notify_one();
    return true;
  }

  void remove(Ticker& ticker) {
    const std::lock_guard one(coming_and_going_);
    std::unique_lock lock(lock_);
    tickers_.erase(std::find(tickers_.begin(), tickers_.end(), &ticker));
    ticked_.wait(lock, [&] { return ticking_ != &ticker; });
    if (!tickers_.empty()) return;
    lock.unlock();
    changed_.notify_one();
    pthread_join(thread_, nullptr);
  }

  void wake(Ticker& ticker) {
    {
      const std::lock_guard guard(lock_);
      ticker.awake_.store(true, std::memory_order_relaxed);
      ticker.sleeps_ = false;
      ticker.calm_ = 0;
      ticker.next_ = Ticker::Clock::now() + ticker.period_;
    }
    changed_.notify_one();
  }

 private:
  // The program's signals are not for this thread.
  bool make_thread() {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const auto body = [](void* service) -> void* {
      enter_service_cpus();
      static_cast<TickerThread*>(service)->run();
      return nullptr;
    };
    const bool made = pthread_create(&thread_, nullptr, body, this) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (made) pthread_setname_np(thread_, "weft-service");
    return made;
  }

  // nullptr: all sleep.
  Ticker* next() const {
    Ticker* first = nullptr;
    for (Ticker* ticker : tickers_) {
      if (!ticker->sleeps_ && (first == nullptr || ticker->next_ < first->next_)) first = ticker;
    }
    return first;
  }

  void run() {
    std::unique_lock lock(lock_);
    while (!tickers_.empty()) {
      Ticker* const ticker = next();
      if (ticker == nullptr) {
        changed_.wait(lock);
      } else if (Ticker::Clock::now() < ticker->next_) {
        const Ticker::Clock::time_point until = ticker->next_;  // the ticker may go meanwhile
        changed_.wait_until(lock, until);
      } else {
        ticking_ = ticker;
        lock.unlock();
        const bool needed = ticker->tick_();
        lock.lock();
        ticking_ = nullptr;
        note(*ticker, needed);
        ticked_.notify_all();
      }
    }
  }

  // Before a ticker sleeps it announces that and ticks once more: a need that arises later wakes it.
  static void note(Ticker& ticker, bool needed) {
    ticker.next_ = Ticker::Clock::now();
    if (needed) {
      ticker.calm_ = 0;
      ticker.awake_.store(true, std::memory_order_relaxed);
    } else if (ticker.calm_ == ticker.idle_) {
      ticker.calm_ = 0;
      ticker.sleeps_ = true;
      return;
    } else if (++ticker.calm_ == ticker.idle_) {
      ticker.awake_.store(false, std::memory_order_relaxed);
      return;
    }
    ticker.next_ += ticker.period_;
  }

  std::mutex coming_and_going_;  // of tickers, and so of the thread
  std::mutex lock_;              // of the members below, and to wake the thread
  std::condition_variable changed_;
  std::condition_variable ticked_;
  std::vector<Ticker*> tickers_;
  Ticker* ticking_ = nullptr;  // at its tick now, without the lock
  pthread_t thread_{};
};

Ticker::Ticker(std::chrono::microseconds period, uint32_t idle, std::function<bool()> tick)
    : period_(period), idle_(idle), tick_(std::move(tick)) {}

Ticker::~Ticker() {
  if (started_) TickerThread::get().remove(*this);
}

bool Ticker::start() {
  if (!started_) started_ = TickerThread::get().add(*this);
  return started_;
}

void Ticker::wake() {
  TickerThread::get().wake(*this);
}

}  // namespace weft::base
