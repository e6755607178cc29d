// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Progress and waiting. Whoever waits makes progress: polls the rings, sends what found the way full, moves streams.
// Then it spins, yields the processor, and at last sleeps until a message comes or another thread has completed what it
// waits for. How long to spin follows from ranks and threads per core. docs/threads.md, "Waiting".

#include <algorithm>

#include "core/world.hpp"

namespace weft::core {

// One round of progress on all lanes; those that another thread is at are left to it. Whether anything happened.
bool progress();

// The same, the lane of this request first; the others only now and then (`round` counts).
bool progress_for(const Request& request, uint32_t round);

// For calls that end without a message, if they are all that a program makes until another rank has done something that
// needs us, such as the loop of a spin lock: every few of them of a thread, one round of progress.
void progress_at_times();

// What a wait does now and then beside progress: sees whether another host is lost or the job ends there.
void look_around(uint64_t now_ns);

// What a wait does between two rounds in which nothing happened. For one request, or for whatever makes a condition
// true.
class Backoff {
 public:
  explicit Backoff(const Request* request = nullptr) : request_(request) {}
  ~Backoff() {
    if (counted_ || slept_) [[unlikely]]
      leave();
  }
  Backoff(const Backoff&) = delete;
  Backoff& operator=(const Backoff&) = delete;

  // Progress was made, though not what is waited for.
  void something_happened() {
    if (!slept_ || helped(just_before_)) rounds_ = 0;
    if (slept_) just_before_ = now();
  }

  // Spins, yields, or sleeps. Before sleeping `ready` is asked once more.
  template <class Ready>
  void pause(Ready&& ready) {
    if (watched_) [[unlikely]]
      look_back();
    if (++rounds_ == crowd_round) note_crowd();
    if (rounds_ <= spin_rounds.load(std::memory_order_relaxed)) return relax();
    if (rounds_ <= all_rounds()) return yield();
    Sleeper me{nullptr, request_, this};
    lie_down(me);
    if (ready() || stirs(me)) {
      get_up(me);
      // What stirs may be for others, one of which may have lost the processor: try again to sleep once they had it.
      rounds_ = world->multiple ? std::max(all_rounds(), 1U) - 1 : 0;
    } else {
      sleep(me);
      get_up(me);
    }
  }

  uint32_t rounds() const { return rounds_; }

  // Settings turned into rounds, by start(); and again when this process has more threads than processors.
  static void tune(int ranks_here, int cpus_here);
  static void tune_for_threads(int threads);
  static bool spins() { return spin_rounds.load(std::memory_order_relaxed) != 0; }

 private:
  friend void wake_sleepers(const Request* request);

  // A thread that sleeps, or is about to.
  struct Sleeper {
    Sleeper* next;
    const Request* request;  // nullptr: any completion wakes it
    Backoff* owner;
    std::atomic<uint32_t> woken = 0;
    bool sentinel = false;  // sleeps on the process's attention word
  };

  static constexpr uint32_t crowd_round = 64;
  static void relax();
  void yield();
  void note_crowd();
  void lie_down(Sleeper& me);
  static bool stirs(const Sleeper& me);
  void sleep(Sleeper& me);
  void rest(Sleeper& me);  // in the kernel
  // What was done for others, as counted so far.
  struct Deeds {
    uint64_t wakes = 0;
    uint64_t others_done = 0;
  };
  static Deeds now();
  static bool helped(const Deeds& since);
  void look_back();
  static void get_up(Sleeper& me);
  static void wake(Sleeper& sleeper);
  void leave();

  static inline std::atomic<uint32_t> spin_rounds = 2000;
  static inline std::atomic<uint32_t> yield_rounds = 100;
  static uint32_t all_rounds() {
    return spin_rounds.load(std::memory_order_relaxed) + yield_rounds.load(std::memory_order_relaxed);
  }
  static Sleeper* first_sleeper;  // under sleep_lock, as the next
  static Backoff* sentinel;       // whose turn it is to watch for messages: awake, or asleep on the attention word
  static std::atomic<uint32_t> any_sleepers;  // those that wait for no certain request
  static std::atomic<uint64_t> wakes;         // sleepers woken so far
  static std::atomic<uint64_t>
      others_done;  // requests completed, while there were sleepers, that none of them sleeps on

  const Request* request_;
  uint32_t rounds_ = 0;
  bool counted_ = false;  // among the threads that wait and are awake
  bool slept_ = false;
  Deeds just_before_;
  // Of the sentinel: it has slept since it last looked back, and how things were before; how long it naps, not 0 while
  // threads that are awake take the messages.
  bool watched_ = false;
  Deeds before_sleep_;
  uint64_t nap_ns_ = 0;
};

// Makes progress until `ready` holds.
template <class Ready>
void wait_until(Ready&& ready) {
  Backoff backoff;
  while (!ready()) {
    if (progress()) {
      backoff.something_happened();
    } else {
      backoff.pause(ready);
    }
  }
}

[[gnu::noinline]] void wait_until_done(Request& request);

inline void wait(Request& request) {
  if (!is_done(request)) wait_until_done(request);
}

}  // namespace weft::core
