// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Waiting: rounds of progress until something holds. Between rounds in which nothing happened a thread backs off: it
// spins, yields the processor, and at last sleeps until a message comes or another thread has completed what it waits
// for. How long it spins follows from ranks and threads per core. docs/design/threads.md, "Waiting".

#include <algorithm>

#include "core/diagnose/wait_record.hpp"
#include "core/progress/progress.hpp"
#include "core/thread/idle.hpp"
#include "core/thread/thread.hpp"
#include "core/thread/waits.hpp"

namespace weft::core {

// Looks now and then, beside progress, whether another host is lost or the job ends there.
void look_around(uint64_t now_ns);

// The ends of a wait, besides messages: a completion here; other processes, which write memory and wake this one
// afterwards (Endpoint::rouse); or some that write and wake nobody.
enum class News : uint8_t { completion, told_memory, memory };

// A wait's pauses between rounds in which nothing happened. It waits for one request, or for any condition.
class Backoff {
 public:
  explicit Backoff(const Request* request = nullptr, News news = News::completion) : request_(request), news_(news) {}
  // The back-off of the progress thread, which waits for anything: it sleeps soon, and completions do not wake it.
  struct ServiceTag {};
  explicit Backoff(ServiceTag /*unused*/)
      : request_(nullptr),
        news_(News::completion),
        service_(true),
        rounds_(waits->all_rounds()),
        restart_(soon_asleep()) {}
  ~Backoff() {
    if (counted_ || slept_) [[unlikely]]
      leave();
  }
  Backoff(const Backoff&) = delete;
  Backoff& operator=(const Backoff&) = delete;

  // Progress was made, though not what is waited for.
  void something_happened() {
    if (!slept_ || helped(just_before_)) rounds_ = restart_;
    if (slept_) just_before_ = now();
  }

  // A round of progress, of which the progress thread counts what it did itself.
  bool progress_of_service();

  // Spins, yields, or sleeps. Before sleeping `ready` is asked once more.
  template <class Ready>
  void pause(Ready&& ready) {
    const IdlePause timed(rounds_ != 0);
    if (watched_) [[unlikely]]
      look_back();
    if (++rounds_ != crowd_round && rounds_ <= waits->spin_rounds.load(std::memory_order_relaxed)) return relax();
    if (rounds_ <= waits->all_rounds() && !lingered()) return;
    Sleeper me{nullptr, request_, this};
    prepare_sleep(me);
    if (ready() || has_event(me)) {
      end_sleep(me);
      // The news may be for another thread that has lost the processor: let it run once, then try again to sleep.
      rounds_ = threads->concurrent ? std::max(waits->all_rounds(), 1U) - 1 : 0;
    } else {
      sleep(me);
      end_sleep(me);
    }
  }

  uint32_t rounds() const { return rounds_; }

  // Settings turned into rounds, by start(); and again when this process has more threads than processors.
  static void tune(int ranks_here, int cpus_here);
  // Whether a wait has its core to itself for a while.
  static bool spins() { return waits->spin_rounds.load(std::memory_order_relaxed) != 0; }

 private:
  friend void wake_sleepers(const Request* request);
  friend void wake_service();

  static constexpr uint32_t crowd_round = 64;
  static void relax();
  // Spins or yields. True: it is time to sleep all the same.
  bool lingered();
  uint32_t first_yield();
  void yield();
  bool in_crowd();
  void prepare_sleep(Sleeper& me);
  void watch(bool on) const;
  bool has_event(const Sleeper& me);
  void sleep(Sleeper& me);
  void rest(Sleeper& me);  // in the kernel
  // The work done for other threads, as counted so far.
  struct Deeds {
    uint64_t wakes = 0;
    uint64_t others_done = 0;  // of the progress thread: messages that other threads took
  };
  Deeds now() const;
  bool helped(const Deeds& since) const;
  void look_back();
  void end_sleep(Sleeper& me) const;
  static void wake(Sleeper& sleeper);
  void leave();
  static uint32_t soon_asleep();

  const Request* request_;
  const News news_;
  const bool service_ = false;
  uint64_t taken_ = 0;  // messages that the progress thread took
  uint32_t rounds_ = 0;
  uint32_t restart_ = 0;      // the round to go on from, once something has happened
  uint32_t yields_from_ = 0;  // the round, where threads share cores; 0: not chosen yet
  bool counted_ = false;      // among the threads that wait and are awake
  bool slept_ = false;
  Deeds just_before_;
  // State of the sentinel: whether it has slept since it last looked back, and how things were before; how long it
  // naps, which is not 0 while threads that are awake take the messages.
  bool watched_ = false;
  Deeds before_sleep_;
  uint64_t nap_ns_ = 0;
  WaitRecorder wait_record_;  // for people who ask why the program stands still
};

template <class Ready>
void wait_with(Backoff& backoff, Ready&& ready) {
  while (!ready()) {
    if (progress()) {
      backoff.something_happened();
    } else {
      backoff.pause(ready);
    }
  }
}

// The progress thread's: until `ready` holds and wake_service() was called.
template <class Ready>
void serve(Ready&& ready) {
  Backoff backoff{Backoff::ServiceTag{}};
  while (!ready()) {
    if (backoff.progress_of_service()) {
      backoff.something_happened();
    } else {
      backoff.pause(ready);
    }
  }
}
void wake_service();

// Makes progress until `ready` holds.
template <class Ready>
void wait_until(Ready&& ready) {
  Backoff backoff;
  wait_with(backoff, ready);
}

// Waits for memory that other processes write, which wake this one afterwards (Endpoint::rouse).
template <class Ready>
void wait_for_memory(Ready&& ready) {
  Backoff backoff(nullptr, News::told_memory);
  wait_with(backoff, ready);
}

// Waits for memory where not all of the writers wake this process: it looks again at short intervals.
template <class Ready>
void wait_for_any_memory(Ready&& ready) {
  Backoff backoff(nullptr, News::memory);
  wait_with(backoff, ready);
}

[[gnu::noinline]] void wait_until_done(Request& request);

inline void wait(Request& request) {
  if (!is_done(request)) wait_until_done(request);
}

}  // namespace weft::core
